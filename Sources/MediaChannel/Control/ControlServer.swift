import IoTCore
import NIOCore
import PeerTransport

/// The device's side of a control channel: answers a caller's requests. Confined to the camera's event loop.
///
/// A caller may send `requestsPerSecond` requests a second; more are refused with 25024, and twice as many end the
/// channel.
final class ControlServer {
    /// Called once with the response.
    typealias Respond = (Result<JSONValue, IoTError>) -> Void
    typealias Handle = (_ method: ControlMethod, _ params: JSONValue, _ respond: @escaping Respond) -> Void

    static let requestsPerSecond = 20
    private static let mostWaiting = 64 << 10

    private let handle: Handle
    private weak var transport: (any ControlTransport)?
    private var channel: DataChannelID?
    private var second: NIODeadline?
    private var requests = 0

    init(_ transport: any ControlTransport, _ handle: @escaping Handle) {
        self.transport = transport
        self.handle = handle
    }

    /// Processes an event of the connection; others than those of data channels have no effect.
    func receive(_ event: PeerEvent, at now: NIODeadline) {
        switch event {
        case .dataChannelOpened(let opened) where opened.isRemote:
            guard channel == nil, opened.label == ControlMethod.channelLabel else {
                transport?.closeDataChannel(opened.id)
                return
            }
            channel = opened.id
        case .dataChannelMessage(let id, let message) where id == channel:
            receive(message, at: now)
        case .dataChannelClosed(let id, _) where id == channel:
            channel = nil
        default: break
        }
    }

    /// Whether much of what was sent has not arrived.
    var isBehind: Bool {
        guard let channel, let transport else { return false }
        return transport.bufferedAmount(of: channel) > Self.mostWaiting
    }

    /// Sends a notification, if the caller has opened the channel.
    func notify(_ method: ControlMethod, _ params: JSONValue) {
        send(.notification(method: method.rawValue, params: params))
    }

    private func receive(_ message: DataChannelMessage, at now: NIODeadline) {
        if second.map({ now - $0 >= .seconds(1) }) ?? true {
            second = now
            requests = 0
        }
        requests += 1
        guard case .text(let text) = message, requests <= 2 * Self.requestsPerSecond else { return close() }
        let parsed: ControlMessage
        do throws(IoTError) {
            parsed = try ControlMessage(parsing: text)
        } catch {
            return send(.failure(id: .null, error))
        }
        // A caller's responses and notifications have no meaning here.
        guard case .request(let id, let name, let params) = parsed else { return }
        guard requests <= Self.requestsPerSecond else {
            let limit = IoTError(
                .tooManyRequests, "a call may make \(Self.requestsPerSecond) control requests a second")
            return send(.failure(id: id, limit))
        }
        guard let method = ControlMethod(rawValue: name) else {
            return send(.failure(id: id, IoTError(.actionNotSupported, "the method '\(name.prefix(64))' is unknown")))
        }
        handle(method, params) { [weak self] result in
            switch result {
            case .success(let value): self?.send(.result(id: id, value))
            case .failure(let error): self?.send(.failure(id: id, error))
            }
        }
    }

    private func send(_ message: ControlMessage) {
        guard let channel, let transport else { return }
        do throws(IoTError) {
            try transport.send(.text(message.text), on: channel)
        } catch {
            // A caller that reads nothing gets nothing more.
            close()
        }
    }

    private func close() {
        if let channel { transport?.closeDataChannel(channel) }
        channel = nil
    }
}
