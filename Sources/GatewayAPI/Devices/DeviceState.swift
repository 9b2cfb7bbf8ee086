/// What a device is doing, as far as its hub knows.
public enum DeviceState: String, Codable, Hashable, Sendable, CaseIterable {
    /// Not connected to the hub.
    case offline
    /// A camera whose source is being opened, for the first time or again.
    case connecting
    /// Connected; a camera's source delivers.
    case ready
    /// A camera whose source cannot be opened or read; it is tried again.
    case failed
    /// A camera that was switched off by `Action.cameraOn` 0.
    case off
}
