public import IoTCore
import IoTLink

/// A user's pass-through messages: bytes to a device or to the hub, and bytes from devices. Their meaning is defined by
/// the user's and the device's programs; the hub only forwards them.
///
/// `device` is an id or a name, and needs the action `control`. A message has at most 30,000 bytes (21008). `wake`
/// requests to wake a sleeping device. Errors: `deviceOffline` (8000); `peerTimeout` (20001) when the device did not
/// answer within `timeout`; `messageTimeout` (21002) when the hub did not; `devicePassThroughFailed` (21006) when the
/// device does not accept messages or its answer is malformed; and any code that the device answers with. A message
/// that is repeated with the same request `id` within ten minutes is delivered once.
public struct MessageClient: Sendable {
    /// The default time that the device has to answer. The most is ten minutes; a longer timeout throws 25001.
    public static let defaultTimeout = Duration.seconds(10)

    private let link: any MessageLink

    public init(link: any MessageLink) {
        self.link = link
    }

    // MARK: To a device

    /// Returns when the device has accepted the message.
    public func send(
        _ device: String, _ data: [UInt8], wake: Bool = true, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) {
        let message = try Self.message(device, data, .none, wake: wake, timeout: timeout)
        // The content of the acknowledgement is ignored.
        _ = try await link.request(MessageMethod.send.name, message.json, timeout: timeout + Self.grace, id: id)
    }

    /// Sends a message and returns the device's one response.
    public func request(
        _ device: String, _ data: [UInt8], wake: Bool = true, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> [UInt8] {
        let message = try Self.message(device, data, .one, wake: wake, timeout: timeout)
        return try Self.response(
            try await link.request(MessageMethod.send, message, timeout: timeout + Self.grace, id: id))
    }

    /// Sends a message and yields the device's responses in order, until the device ends them. `timeout` is for all of
    /// them together. Dropping the sequence cancels the request. The sequence throws an `IoTError`.
    public func responses(
        _ device: String, _ data: [UInt8], wake: Bool = true, timeout: Duration = defaultTimeout, id: String? = nil
    ) throws(IoTError) -> some AsyncSequence<[UInt8], any Error> & Sendable {
        let message = try Self.message(device, data, .many, wake: wake, timeout: timeout)
        return link.responses(MessageMethod.send.name, message.json, timeout: timeout + Self.grace, id: id)
            .map { try Self.response(try MessageMethod.send.result($0)) }
    }

    // MARK: To the hub

    /// Sends a request to the hub itself, by path: `GET/time` returns `{"t"}` (ms since 1970), `GET/NetCfg_Token` a
    /// provisioning token `{"token","expires"}`, both as JSON text. Throws `serverPassThroughFailed` (21005) for an
    /// unknown path.
    public func askServer(
        _ path: String, _ data: [UInt8] = [], timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> [UInt8] {
        let query = ServerQuery(path: path, data: data.isEmpty ? nil : try MessageData(data))
        return try await link.request(MessageMethod.askServer, query, timeout: timeout, id: id).data.bytes
    }

    // MARK: From devices

    /// Yields new data from the account's devices. Ends with the link session. A slow reader loses the oldest.
    public func deviceData() -> some AsyncSequence<DeviceData, Never> & Sendable {
        link.pushes().compactMap { MessageMethod.data.parameters(of: $0) }
    }

    // The device has `timeout`. The hub's own answer needs a little longer.
    private static let grace = Duration.seconds(1)

    private static func message(
        _ device: String, _ data: [UInt8], _ responses: MessageResponses, wake: Bool, timeout: Duration
    ) throws(IoTError) -> MessageToDevice {
        MessageToDevice(
            device: device, data: try MessageData(data), responses: responses, wake: wake,
            timeoutMilliseconds: timeout.milliseconds)
    }

    private static func response(_ response: MessageResponse) throws(IoTError) -> [UInt8] {
        guard let data = response.data else {
            throw IoTError(.devicePassThroughFailed, "the answer is malformed: it has no data")
        }
        return data.bytes
    }
}

extension Duration {
    /// Whole milliseconds, from 0 to a day.
    var milliseconds: Int64 {
        let bounded = min(max(self, .zero), .seconds(86_400)).components
        return bounded.seconds * 1000 + bounded.attoseconds / 1_000_000_000_000_000
    }
}
