public import IoTCore
public import IoTLink
import Synchronization

/// A device's side of pass-through messages: takes what users send, and sends data to all of them.
public final class DeviceMessages: Sendable {
    /// Takes a message and responds as it asks. An `IoTError` reaches the sender with its code; any other becomes
    /// `userCommandInternal` (20140). It is cancelled when the sender no longer waits.
    public typealias Handler = @Sendable (DeviceMessage, DeviceMessageResponder) async throws -> Void

    private let link: any MessageLink

    public init(link: any MessageLink) {
        self.link = link
    }

    /// Registers what takes messages; a device without it refuses them with `devicePassThroughFailed` (21006).
    public func onMessage(_ handler: @escaping Handler) {
        link.handleMany(MessageMethod.receive.name) { request, responder throws(IoTError) in
            try await Self.receive(request, responder, handler)
        }
    }

    /// Sends data to the users who may view this device and are online. Throws `messageTooLong` (21008) past 30,000
    /// bytes.
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
                throw IoTError(.devicePassThroughFailed, "the device took the message and gave no response")
            }
            return MessageContent(data: response).json
        }
    }
}

/// A message as it comes to a device.
public struct DeviceMessage: Sendable, Hashable {
    /// Who sent it, as the hub saw it.
    public var from: Principal?
    public var data: [UInt8]
    public var responses: MessageResponses

    public init(from: Principal?, data: [UInt8], responses: MessageResponses) {
        self.from = from
        self.data = data
        self.responses = responses
    }

    /// The message as text; `nil` when it is no UTF-8.
    public var text: String? { String(validating: data, as: UTF8.self) }
}

/// Where a device's message handler gives its responses.
public final class DeviceMessageResponder: Sendable {
    private let responses: MessageResponses
    private let link: LinkResponder
    private let first = Mutex<MessageData?>(nil)

    init(responses: MessageResponses, link: LinkResponder) {
        self.responses = responses
        self.link = link
    }

    var single: MessageData? { first.withLock { $0 } }

    /// Gives the next response. When the sender wants none it goes nowhere; when it wants one, it goes out as the
    /// handler returns.
    ///
    /// Throws 21008 past 30,000 bytes, 21000 for a second response where one is wanted, and what
    /// `LinkResponder.send` throws.
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
            guard isFirst else { throw IoTError(.duplicateMessage, "the sender wants one response") }
        }
    }

    public func send(text: String) throws(IoTError) {
        try send(Array(text.utf8))
    }
}
