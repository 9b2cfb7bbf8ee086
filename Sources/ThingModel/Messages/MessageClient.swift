public import IoTCore
import IoTLink

/// A user's pass-through messages: bytes to a device or to the hub, and bytes that devices send. What they mean is
/// between the user's program and the device's; the hub only passes them on.
///
/// `device` is an id or a name, and needs the action `control`. A message has at most 30,000 bytes (21008). `wake` asks
/// to wake a sleeping device. Refusals: `deviceOffline` (8000); `peerTimeout` (20001) when the device did not answer
/// within `timeout`; `messageTimeout` (21002) when the hub did not; `devicePassThroughFailed` (21006) when the device
/// takes no messages or its answer makes no sense; and whatever code the device answers with. Repeating a message with
/// the same request `id` within ten minutes does not deliver it twice.
public struct MessageClient: Sendable {
    /// How long the device is given when nothing else is said; ten minutes at most, and 25001 for more.
    public static let defaultTimeout = Duration.seconds(10)

    private let link: any MessageLink

    public init(link: any MessageLink) {
        self.link = link
    }

    // MARK: To a device

    /// Returns when the device has taken the message.
    public func send(
        _ device: String, _ data: [UInt8], wake: Bool = true, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) {
        let message = try Self.message(device, data, .none, wake: wake, timeout: timeout)
        // What a device acknowledges with is not read.
        _ = try await link.request(MessageMethod.send.name, message.json, timeout: timeout + Self.grace, id: id)
    }

    /// The device's one response.
    public func request(
        _ device: String, _ data: [UInt8], wake: Bool = true, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> [UInt8] {
        let message = try Self.message(device, data, .one, wake: wake, timeout: timeout)
        return try Self.response(
            try await link.request(MessageMethod.send, message, timeout: timeout + Self.grace, id: id))
    }

    /// The device's responses, in order, until it says that there are no more; `timeout` is for all of them together.
    /// Dropping the sequence gives the rest up. It throws an `IoTError`.
    public func responses(
        _ device: String, _ data: [UInt8], wake: Bool = true, timeout: Duration = defaultTimeout, id: String? = nil
    ) throws(IoTError) -> some AsyncSequence<[UInt8], any Error> & Sendable {
        let message = try Self.message(device, data, .many, wake: wake, timeout: timeout)
        return link.responses(MessageMethod.send.name, message.json, timeout: timeout + Self.grace, id: id)
            .map { try Self.response(try MessageMethod.send.result($0)) }
    }

    // MARK: To the hub

    /// Asks the hub itself, by path: `GET/time` gives `{"t"}` (ms since 1970), `GET/NetCfg_Token` a provisioning token
    /// `{"token","expires"}`, both as JSON text. Throws `serverPassThroughFailed` (21005) for an unknown path.
    public func askServer(
        _ path: String, _ data: [UInt8] = [], timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> [UInt8] {
        let query = ServerQuery(path: path, data: data.isEmpty ? nil : try MessageData(data))
        return try await link.request(MessageMethod.askServer, query, timeout: timeout, id: id).data.bytes
    }

    // MARK: From devices

    /// What the account's devices send from now on; ends with the link session. A slow reader loses the oldest.
    public func deviceData() -> some AsyncSequence<DeviceData, Never> & Sendable {
        link.pushes().compactMap { MessageMethod.data.parameters(of: $0) }
    }

    // The hub gives the device its time; the hub's own answer needs a moment more.
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
            throw IoTError(.devicePassThroughFailed, "the answer makes no sense: it has no data")
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
