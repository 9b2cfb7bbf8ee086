/// A search's report about a device.
public enum DeviceSighting: Hashable, Sendable {
    case found(DiscoveredDevice)
    /// The device announced that it leaves.
    case gone(identity: String, foundBy: DiscoveryProtocol)
}

/// A protocol that finds devices: a row of `LANSearch`.
public protocol DeviceFinder: Sendable {
    /// Searches for this time. The stream ends with the search; cancelling the stream ends the search.
    func find(for duration: Duration) -> AsyncStream<DeviceSighting>
}
