/// The device that was created.
public struct DeviceResponse: Codable, Hashable, Sendable {
    /// 32 lower-case hex digits.
    public var device: String
    public var name: String

    public init(device: String, name: String) {
        self.device = device
        self.name = name
    }
}
