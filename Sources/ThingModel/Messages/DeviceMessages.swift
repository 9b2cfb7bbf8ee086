public import IoTCore
public import IoTLink
import Synchronization

/// The device side of pass-through messages: it receives users' messages, and sends data to all users.
public final class DeviceMessages: Sendable {
    /// Handles a message, and responds as `DeviceMessage.responses` says. The sender gets an `IoTError` with its code,
    /// any other error as `userCommandInternal` (20140). The handler is cancelled when the sender no longer waits.
    public typealias Handler = @Sendable (DeviceMessage, DeviceMessageResponder) async throws -> Void

    private let link: any MessageLink

    public init(link: any MessageLink) {
        self.link = link
    }

    /// Registers the handler. A device without one refuses messages with `devicePassThroughFailed` (21006).
    public func onMessage(_ handler: @escaping Handler) {
        link.handleMany(MessageMethod.receive.name) { request, responder throws(IoTError) in
            try await Self.receive(request, responder, handler)
        }
    }

    /// Sends data to the users who are online and may view this device. Throws `messageTooLong` (21008) for more than
    /// 30,000 bytes.
    public func push(_ data: [UInt8], timeout: Duration = .seconds(10)) async throws(IoTError) {
        _ = try await link.request(
            MessageMethod.push, MessageContent(data: try MessageData(data)), timeout: timeout)
    }

    private static func receive(
        _ request: LinkRequest, _ responder: LinkResponder, _ handler: Handler
    ) async throws(IoTError) -> JSONValue {
        let received = try MessageMethod.receive.parameters(of: request)
        let message = DeviceMessage(from: request.from, data: received.data.bytes, responses: received.responses)
        let own = DeviceMessageResponder(responses: received.responses, link: responder)
        do {
            try await handler(message, own)
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.userCommandInternal, "\(error)", underlying: error)
        }
        switch received.responses {
        case .none: return [:]
        case .many: return .null
        case .one:
            guard let response = own.single else {
                throw IoTError(.devicePassThroughFailed, "the device accepted the message but sent no response")
            }
            return MessageContent(data: response).json
        }
    }
}

/// A message to a device.
public struct DeviceMessage: Sendable, Hashable {
    /// Who sent it. The hub sets it.
    public var from: Principal?
    public var data: [UInt8]
    public var responses: MessageResponses

    public init(from: Principal?, data: [UInt8], responses: MessageResponses) {
        self.from = from
        self.data = data
        self.responses = responses
    }

    /// The message as text; `nil` when it is not UTF-8.
    public var text: String? { String(validating: data, as: UTF8.self) }
}

/// Sends the responses of a device's message handler.
public final class DeviceMessageResponder: Sendable {
    private let responses: MessageResponses
    private let link: LinkResponder
    private let first = Mutex<MessageData?>(nil)

    init(responses: MessageResponses, link: LinkResponder) {
        self.responses = responses
        self.link = link
    }

    var single: MessageData? { first.withLock { $0 } }

    /// Sends the next response. If the sender expects none, it is discarded. If the sender expects one, it is sent when
    /// the handler returns.
    ///
    /// Throws 21008 for more than 30,000 bytes, 21000 for a second response when one is expected, and the errors of
    /// `LinkResponder.send`.
    public func send(_ data: [UInt8]) throws(IoTError) {
        let response = try MessageData(data)
        switch responses {
        case .none: return
        case .many: try link.send(MessageContent(data: response).json)
        case .one:
            let isFirst = first.withLock { first in
                defer { first = first ?? response }
                return first == nil
            }
            guard isFirst else { throw IoTError(.duplicateMessage, "the sender expects only one response") }
        }
    }

    public func send(text: String) throws(IoTError) {
        try send(Array(text.utf8))
    }
}
