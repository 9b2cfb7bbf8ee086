public import IoTCore
public import Logging
public import NIOCore

/// DNS-SD on the networks of this machine: announces our cameras, and finds other devices.
///
/// Uses the system's Avahi daemon while it runs, and otherwise our own multicast DNS; both start at the first use. When
/// Avahi stops or starts, the other one takes over, without an effect for callers.
public final class LocalServices: DeviceFinder {
    /// The implementation of multicast DNS.
    public enum Way: String, Sendable, CaseIterable {
        case automatic, avahi, multicastDNS
    }

    private let eventLoop: any EventLoop
    private let switchboard: NIOLoopBound<DirectorySwitch>

    /// The maximum number of announced cameras.
    public static let maximumCameras = ServiceAnnouncement.maximumCount
    /// The maximum number of concurrent searches; further ones find nothing.
    public static let maximumSearches = DirectorySwitch.maximumSubscribers

    /// - Parameter eventLoop: A loop of a `MultiThreadedEventLoopGroup`.
    public init(on eventLoop: any EventLoop, way: Way = .automatic, logger: Logger) async throws {
        self.eventLoop = eventLoop
        switchboard = try await eventLoop.submit {
            NIOLoopBound(DirectorySwitch(eventLoop: eventLoop, way: way, logger: logger), eventLoop: eventLoop)
        }.get()
    }

    /// Announces these cameras instead of the previous ones; an empty list withdraws all.
    ///
    /// Returns before they are announced, because their names are probed for a second first.
    ///
    /// - Throws: `invalidParameter` for more than 128 cameras, for two with the same id, and for a name or port that
    ///   cannot be announced.
    public func announce(cameras: [AnnouncedCamera]) async throws(IoTError) {
        let announcements = cameras.map(\.announcement)
        try Self.check(cameras)
        let switchboard = switchboard
        try? await eventLoop.submit { switchboard.value.announce(announcements) }.get()
    }

    /// The devices found within this time.
    ///
    /// A device is repeated when more becomes known about it, and for each of its services; `DiscoveryTable` merges
    /// them. If 1,024 devices wait to be read, further ones are dropped.
    public func find(for duration: Duration) -> AsyncStream<DeviceSighting> {
        stream(for: TimeAmount(duration)) { $0.sighting }
    }

    /// Found and lost services, within this time, or until the stream is cancelled if it is `nil`.
    public func events(for duration: TimeAmount? = nil) -> AsyncStream<ServiceEvent> {
        stream(for: duration) { $0 }
    }

    /// Withdraws the cameras and ends all searches.
    public func close() async {
        let switchboard = switchboard
        try? await eventLoop.submit { switchboard.value.close() }.get()
    }

    private func stream<Element: Sendable>(
        for duration: TimeAmount?, _ convert: @escaping @Sendable (ServiceEvent) -> Element
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingOldest(1_024))
        let subscriber = DirectorySwitch.Subscriber(
            take: { event in continuation.yield(convert(event)) },
            end: { continuation.finish() })
        let (eventLoop, switchboard) = (eventLoop, switchboard)
        continuation.onTermination = { _ in eventLoop.execute { switchboard.value.remove(subscriber.id) } }
        eventLoop.execute { switchboard.value.add(subscriber, for: duration) }
        return stream
    }

    private static func check(_ cameras: [AnnouncedCamera]) throws(IoTError) {
        guard cameras.count <= ServiceAnnouncement.maximumCount else {
            throw IoTError(.invalidParameter, "\(cameras.count) cameras: at most \(ServiceAnnouncement.maximumCount)")
        }
        guard Set(cameras.map(\.deviceID)).count == cameras.count else {
            throw IoTError(.invalidParameter, "two cameras have one device id")
        }
        for camera in cameras {
            guard !camera.name.isEmpty, ServiceText.readable(Array(camera.name.utf8)) != nil else {
                throw IoTError(.invalidParameter, "a camera's name is empty or has control characters")
            }
            guard (1...65_535).contains(camera.port) else {
                throw IoTError(.invalidParameter, "port \(camera.port): a port is 1 to 65535")
            }
        }
    }
}
