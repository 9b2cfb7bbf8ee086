/// The state of a device as known to its hub.
public enum DeviceState: String, Codable, Hashable, Sendable, CaseIterable {
    /// Not connected to the hub.
    case offline
    /// A camera that is opening its source, for the first time or again.
    case connecting
    /// Connected. If it is a camera, its source delivers.
    case ready
    /// A camera whose source cannot be opened or read. The camera tries again.
    case failed
    /// A camera that was switched off by `Action.cameraOn` 0.
    case off
}
