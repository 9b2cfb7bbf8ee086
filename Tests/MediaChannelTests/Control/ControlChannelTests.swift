import IoTCore
import NIOCore
import NIOEmbedded
import Testing

@testable import MediaChannel
@testable import PeerTransport

/// Both sides of a control channel, without a network.
@Suite struct ControlChannelTests {
    /// One side's connection: passes what it sends to the other side.
    private final class Wire: ControlTransport {
        static let id = DataChannelID(value: 3)
        var other: ((PeerEvent) -> Void)?
        var own: ((PeerEvent) -> Void)?
        var refuses = false
        private(set) var isClosed = false
        private(set) var label: String?
        /// Whether a channel is open at once.
        var isConnected = false

        func openDataChannel(
            label: String, subprotocol: String, options: DataChannelOptions
        ) throws(IoTError) -> DataChannel {
            self.label = label
            if isConnected { connect() }
            return channel(label, isRemote: false, state: isConnected ? .open : .connecting)
        }

        func channel(
            _ label: String, isRemote: Bool, id: DataChannelID = Wire.id, state: DataChannel.State = .open
        ) -> DataChannel {
            DataChannel(
                id: id, label: label, subprotocol: "", options: DataChannelOptions(), isRemote: isRemote, state: state)
        }

        func connect() {
            guard let label else { return }
            other?(.dataChannelOpened(channel(label, isRemote: true)))
            own?(.dataChannelOpened(channel(label, isRemote: false)))
        }

        func send(_ message: DataChannelMessage, on id: DataChannelID) throws(IoTError) {
            if refuses { throw IoTError(.channelSendFailed) }
            other?(.dataChannelMessage(id, message))
        }

        func bufferedAmount(of id: DataChannelID) -> Int { 0 }

        func closeDataChannel(_ id: DataChannelID) {
            isClosed = true
            other?(.dataChannelClosed(id, nil))
        }
    }

    private final class Pair {
        let loop = EmbeddedEventLoop()
        let caller = Wire()
        let device = Wire()
        let client: ControlClient
        private(set) var server: ControlServer?
        private(set) var notified: [(ControlMethod, JSONValue)] = []
        /// What the device answers.
        var answer: Result<JSONValue, IoTError> = .success(["ok": true])
        private(set) var asked: [ControlMethod] = []

        init() {
            var notify: (ControlMethod, JSONValue) -> Void = { _, _ in }
            client = ControlClient(eventLoop: loop) { notify($0, $1) }
            client.use(caller)
            server = ControlServer(device) { [unowned self] method, _, respond in
                asked.append(method)
                respond(answer)
            }
            notify = { [unowned self] in notified.append(($0, $1)) }
            caller.own = { [unowned self] in client.handle($0) }
            caller.other = { [unowned self] in server?.receive($0, at: loop.now) }
            device.other = { [unowned self] in client.handle($0) }
            device.own = caller.other
        }

        func outcome(_ future: EventLoopFuture<JSONValue>) -> Result<JSONValue, IoTError>? {
            var outcome: Result<JSONValue, IoTError>?
            future.assumeIsolated().whenComplete { result in
                outcome = result.mapError { $0 as? IoTError ?? IoTError(.internalFailure) }
            }
            return outcome
        }
    }

    @Test("The channel is opened with the first request, which waits for it; the device's answer and error come back")
    func requests() throws {
        let pair = Pair()
        let first = pair.client.request(.talkStart)
        #expect(pair.caller.label == "iotlink.control" && pair.outcome(first) == nil)
        pair.caller.connect()
        #expect(try pair.outcome(first)?.get() == ["ok": true] && pair.asked == [.talkStart])
        pair.answer = .failure(IoTError(.talkerBusy, remedy: "wait for Bob"))
        let second = pair.outcome(pair.client.request(.talkStop))
        guard case .failure(let error) = second else { return #expect(Bool(false), "\(String(describing: second))") }
        #expect(error.code == .talkerBusy && error.remedy == "wait for Bob")
    }

    @Test("On an established connection, where the channel is open at once, the first request is sent at once")
    func atOnce() throws {
        let pair = Pair()
        pair.caller.isConnected = true
        #expect(try pair.outcome(pair.client.request(.talkStart))?.get() == ["ok": true])
    }

    @Test("A request without an answer fails after five seconds; after the connection's end all fail at once")
    func failures() {
        let pair = Pair()
        let silent = pair.client.request(.talkStart)
        pair.loop.advanceTime(by: .seconds(5))
        guard case .failure(let timeout) = pair.outcome(silent) else { return #expect(Bool(false)) }
        #expect(timeout.code == .messageTimeout)
        pair.caller.connect()
        var lost: [ErrorCode] = []
        pair.client.onLost = { lost.append($0.code) }
        pair.caller.own?(.dataChannelClosed(Wire.id, nil))
        #expect(lost == [.channelDisconnected])
        // The next request opens another channel.
        pair.caller.isConnected = true
        #expect(pair.outcome(pair.client.request(.talkStart)) != nil)
        pair.client.end(IoTError(.channelDisconnected))
        guard case .failure(let gone) = pair.outcome(pair.client.request(.talkStart)) else {
            return #expect(Bool(false))
        }
        #expect(gone.code == .channelDisconnected)
    }

    @Test("Both sides refuse more than twenty requests a second; the device ends the channel at more than forty")
    func quota() {
        let pair = Pair()
        _ = pair.client.request(.talkStart)
        pair.caller.connect()
        var refused = 0
        for _ in 0..<35 {
            if case .failure(let error) = pair.outcome(pair.client.request(.talkStop)), error.code == .tooManyRequests {
                refused += 1
            }
        }
        #expect(pair.asked.count == 20 && refused == 16 && !pair.device.isClosed)
        pair.loop.advanceTime(by: .seconds(1))
        _ = pair.client.request(.talkStart)
        #expect(pair.asked.count == 21)
        for _ in 0..<41 {
            let text = ControlMessage.request(id: 1, method: "talk.stop", params: [:]).text
            pair.server?.receive(.dataChannelMessage(Wire.id, .text(text)), at: pair.loop.now)
        }
        #expect(pair.asked.count == 40 && pair.device.isClosed)
    }

    @Test("Unreadable messages and unknown methods get an error; binary messages and other channels are closed")
    func strangers() {
        let pair = Pair()
        _ = pair.client.request(.talkStart)
        pair.caller.connect()
        var answers: [String] = []
        pair.device.other = { if case .dataChannelMessage(_, .text(let text)) = $0 { answers.append(text) } }
        for text in [
            "nonsense", #"{"jsonrpc":"2.0","id":9,"method":"format.disk"}"#, #"{"jsonrpc":"2.0","result":1,"id":1}"#,
        ] {
            pair.server?.receive(.dataChannelMessage(Wire.id, .text(text)), at: pair.loop.now)
        }
        #expect(answers.count == 2, "a response of the caller has no answer")
        #expect(answers.last?.contains("\"code\":20104") == true && answers.last?.contains("\"id\":9") == true)
        let other = pair.device.channel("chat", isRemote: true, id: DataChannelID(value: 5))
        pair.server?.receive(.dataChannelOpened(other), at: pair.loop.now)
        #expect(pair.device.isClosed)
        pair.server?.receive(.dataChannelMessage(Wire.id, .binary(ByteBuffer())), at: pair.loop.now)
        let text = ControlMessage.request(id: 2, method: "talk.stop", params: [:]).text
        pair.server?.receive(.dataChannelMessage(Wire.id, .text(text)), at: pair.loop.now)
        #expect(pair.asked.count == 1, "the channel has ended")
    }

    @Test("A notification of the device reaches the caller")
    func notifications() {
        let pair = Pair()
        _ = pair.client.request(.talkStart)
        pair.server?.notify(.talkEnded, [:])
        pair.caller.connect()
        pair.server?.notify(.talkEnded, ["code": 20002])
        #expect(pair.notified.count == 1 && pair.notified.first?.1 == ["code": 20002])
    }
}
