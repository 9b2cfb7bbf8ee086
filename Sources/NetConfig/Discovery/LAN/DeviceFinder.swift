/// What a search hears of a device.
public enum DeviceSighting: Hashable, Sendable {
    case found(DiscoveredDevice)
    /// It says that it goes.
    case gone(identity: String, foundBy: DiscoveryProtocol)
}

/// A protocol by which devices are found: a row of `LANSearch`.
public protocol DeviceFinder: Sendable {
    /// Searches for so long. The stream ends with the search; ending the stream ends the search.
    func find(for duration: Duration) -> AsyncStream<DeviceSighting>
}
