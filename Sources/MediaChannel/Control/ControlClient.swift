import IoTCore
import NIOCore
import PeerTransport

/// The caller's side of a control channel: opens it when it is first needed, and pairs responses with requests.
/// Confined to the call's event loop.
final class ControlClient {
    private enum State {
        case idle
        case opening(DataChannelID)
        case open(DataChannelID)
        case ended(IoTError)
    }

    private struct Waiting {
        let promise: EventLoopPromise<JSONValue>
        let timeout: Scheduled<Void>
    }

    private static let maximumWaiting = 32
    /// The device closes the channel of a caller that makes many more, and with it ends what the other users of this
    /// channel do there. Within any second of the device's, at most twice as many are sent.
    private var rate = RateLimit(
        RateLimit.Bound(burst: ControlServer.requestsPerSecond, each: ControlServer.requestsPerSecond))

    private let eventLoop: any EventLoop
    private let onNotification: (ControlMethod, JSONValue) -> Void
    /// The control channel has ended, and with it what the device would have reported there.
    var onLost: (IoTError) -> Void = { _ in }
    private weak var transport: (any ControlTransport)?
    private var state = State.idle
    private var waiting: [Int64: Waiting] = [:]
    /// Requests that wait for the channel.
    private var unsent: [(id: Int64, text: String)] = []
    private var nextID: Int64 = 1

    init(eventLoop: any EventLoop, onNotification: @escaping (ControlMethod, JSONValue) -> Void) {
        self.eventLoop = eventLoop
        self.onNotification = onNotification
    }

    /// The connection over which the channel is opened.
    func use(_ transport: any ControlTransport) {
        self.transport = transport
    }

    /// Fails with the device's error; with `channelDisconnected` when the channel ends, `messageTimeout` when no
    /// response comes.
    func request(_ method: ControlMethod, _ params: JSONValue = [:]) -> EventLoopFuture<JSONValue> {
        let promise = eventLoop.makePromise(of: JSONValue.self)
        guard waiting.count < Self.maximumWaiting else {
            promise.fail(IoTError(.tooManyRequests, "\(Self.maximumWaiting) control requests wait for the device"))
            return promise.futureResult
        }
        guard rate.take(at: eventLoop.now) else {
            promise.fail(
                IoTError(
                    .tooManyRequests, "a channel may make \(ControlServer.requestsPerSecond) control requests a second")
            )
            return promise.futureResult
        }
        let id = nextID
        nextID += 1
        let timeout = eventLoop.assumeIsolated().scheduleTask(in: method.timeout) { [weak self] in
            guard let self else { return }
            settle(id, .failure(IoTError(.messageTimeout, "the device did not answer '\(method.rawValue)'")))
        }
        waiting[id] = Waiting(promise: promise, timeout: timeout)
        send(id, ControlMessage.request(id: .integer(id), method: method.rawValue, params: params).text)
        return promise.futureResult
    }

    private func send(_ number: Int64, _ text: String) {
        do throws(IoTError) {
            guard let transport else { throw IoTError(.channelDisconnected) }
            switch state {
            case .ended(let error): throw error
            case .open(let id): try transport.send(.text(text), on: id)
            case .opening: unsent.append((number, text))
            case .idle:
                let channel = try transport.openDataChannel(
                    label: ControlMethod.channelLabel, subprotocol: "", options: DataChannelOptions())
                // On an established connection the channel can be used at once, and its event has come already.
                guard channel.state == .open else {
                    state = .opening(channel.id)
                    unsent.append((number, text))
                    return
                }
                state = .open(channel.id)
                try transport.send(.text(text), on: channel.id)
            }
        } catch {
            end(error)
        }
    }

    /// Processes an event of the connection; others than those of the control channel have no effect.
    func handle(_ event: PeerEvent) {
        switch (event, state) {
        case (.dataChannelOpened(let channel), .opening(let id)) where channel.id == id:
            state = .open(id)
            let texts = unsent
            unsent = []
            for (number, text) in texts { send(number, text) }
        case (.dataChannelMessage(let id, .text(let text)), .open(let own)) where id == own:
            receive(text)
        case (.dataChannelClosed(let id, let error), .opening(let own)) where id == own:
            end(error ?? IoTError(.actionNotSupported, "the device has no control channel"))
        case (.dataChannelClosed(let id, let error), .open(let own)) where id == own:
            lost(error ?? IoTError(.channelDisconnected, "the device closed the control channel"))
        default: break
        }
    }

    private func receive(_ text: String) {
        // A device's message that cannot be read is ignored; its request times out.
        guard let message = try? ControlMessage(parsing: text) else { return }
        switch message {
        case .result(.integer(let id), let value): settle(id, .success(value))
        case .failure(.integer(let id), let error): settle(id, .failure(error))
        case .notification(let name, let params):
            if let method = ControlMethod(rawValue: name) { onNotification(method, params) }
        case .result, .failure, .request: break
        }
    }

    private func settle(_ id: Int64, _ result: Result<JSONValue, IoTError>) {
        guard let waiting = waiting.removeValue(forKey: id) else { return }
        unsent.removeAll { $0.id == id }
        waiting.timeout.cancel()
        waiting.promise.completeWith(result.mapError { $0 as any Error })
    }

    /// Only the channel has ended, not the connection: the next request opens another.
    private func lost(_ reason: IoTError) {
        state = .idle
        fail(reason)
        onLost(reason)
    }

    /// All waiting requests, and all later ones, fail.
    func end(_ reason: IoTError) {
        if case .ended = state { return fail(reason) }
        state = .ended(reason)
        fail(reason)
    }

    private func fail(_ reason: IoTError) {
        unsent = []
        for id in waiting.keys.sorted() { settle(id, .failure(reason)) }
    }
}
