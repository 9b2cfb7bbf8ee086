import IoTCore
import Logging
import MediaPlayer
import NIOCore
import NIOPosix
import Testing

@testable import MediaChannel

@Suite(.timeLimit(.minutes(1))) struct MonitorCoreTests {
    @Test("A channel may be created on any thread, and reports its start, its failure and its end")
    func madeElsewhere() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let core = NIOLoopBoundBox.makeBoxSendingValue(
            MonitorCore(eventLoop: loop, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { _ in },
            eventLoop: loop)
        let (events, connected) = try await loop.submit {
            core.value.join("user")
            let events = core.value.subscribe("user")
            return (events, try core.value.beginPreparing())
        }.get()
        try await loop.submit { core.value.fail(IoTError(.deviceOffline)) }.get()
        await #expect(throws: IoTError.self) { try await connected.get() }
        var received: [String] = []
        for await event in events {
            switch event {
            case .stateChanged(let state):
                received.append("\(state.connection) \(state.player) \(state.reason?.code.name ?? "-")")
            case .ended(let reason): received.append("ended \(reason?.code.name ?? "-")")
            case .stageReached(let entry): received.append("stage \(entry.stage)")
            default: received.append("other")
            }
        }
        #expect(
            received == [
                "disconnected stopped -", "disconnected preparing -", "stage connecting", "connecting preparing -",
                "stage connecting", "connecting stopping deviceOffline", "stage disconnecting",
                "disconnected stopping deviceOffline", "disconnected stopped deviceOffline", "ended deviceOffline",
            ])
    }

    @Test("A channel that was closed before it was prepared is refused, and nothing waits for its connection")
    func closedFirst() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let core = NIOLoopBoundBox.makeBoxSendingValue(
            MonitorCore(eventLoop: loop, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { _ in },
            eventLoop: loop)
        try await loop.submit {
            core.value.join("user")
            core.value.stop()
        }.get()
        let error = await #expect(throws: IoTError.self) {
            try await loop.submit { _ = try core.value.beginPreparing() }.get()
        }
        #expect(error?.code == .channelDisconnected)
        await #expect(throws: IoTError.self) { try await loop.submit { _ = try core.value.beginPlaying("user") }.get() }
    }

    @Test("Before the connection and after its end, commands to the device fail at once, and change nothing")
    func unconnected() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        for (kind, failure) in [(ChannelKind.monitor, IoTError(.deviceOffline)), (.live, IoTError(.deviceOffline))] {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let core = NIOLoopBoundBox.makeBoxSendingValue(
                MonitorCore(kind: kind, eventLoop: loop, logger: logger) { _ in }, eventLoop: loop)
            let (before, after) = try await loop.submit {
                let core = core.value
                func refusals() -> [ErrorCode?] {
                    // The future of a command would complete later.
                    let commands: [() throws -> Void] = [
                        { _ = try core.change(definition: "low") }, { _ = try core.beginPlaying("user") },
                        { _ = try core.talk.start("user", ScriptedSpeech()) },
                    ]
                    return commands.map { command in
                        do { try command() } catch { return (error as? IoTError)?.code }
                        return nil
                    }
                }
                core.join("user")
                core.definitions = MonitorDefinitions("high", ["high", "low"])
                let before = refusals().prefix(1)
                _ = try? core.beginPreparing().whenFailure { _ in }
                core.fail(failure)
                let after = refusals()
                #expect(core.definitions.current == "high")
                let shown = #expect(throws: IoTError.self) { try core.picture.beginChange() }
                #expect(shown?.code == (kind == .live ? .deviceOffline : .operationNotAllowed))
                return (Array(before), after)
            }.get()
            // A live channel has no definitions.
            #expect(before == [kind == .live ? .operationNotAllowed : .channelDisconnected])
            #expect(
                after == [
                    kind == .live ? .operationNotAllowed : .deviceOffline, .channelDisconnected, .deviceOffline,
                ])
        }
    }
}
