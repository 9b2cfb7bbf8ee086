/// Whose firmware a device's upgrades are about: the key `firmware` of a camera's settings.
public enum CameraFirmwareKind: String, Sendable, Codable, CaseIterable {
    /// The box's.
    case box
    /// The camera's own, through its ONVIF service.
    case camera
}
