import IoTCore
import Logging
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
            default: received.append("other")
            }
        }
        #expect(
            received == [
                "disconnected stopped -", "disconnected preparing -", "connecting preparing -",
                "connecting stopping deviceOffline", "disconnected stopping deviceOffline",
                "disconnected stopped deviceOffline", "ended deviceOffline",
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
}
