public import IoTCore
public import Logging
public import NIOCore

/// DNS-SD on the networks of this machine: announces our cameras, and finds those of others.
///
/// The system's Avahi daemon does it while it runs, and otherwise a multicast DNS of our own; both are begun on first
/// use. When Avahi stops or starts the other takes over, and nobody who uses this notices.
public final class LocalServices: DeviceFinder {
    /// Who speaks multicast DNS.
    public enum Way: String, Sendable, CaseIterable {
        case automatic, avahi, multicastDNS
    }

    private let eventLoop: any EventLoop
    private let switchboard: NIOLoopBound<DirectorySwitch>

    /// Cameras that can be announced.
    public static let maximumCameras = ServiceAnnouncement.maximumCount
    /// Searches at a time; more find nothing.
    public static let maximumSearches = DirectorySwitch.maximumSubscribers

    /// - Parameter eventLoop: of a `MultiThreadedEventLoopGroup`.
    public init(on eventLoop: any EventLoop, way: Way = .automatic, logger: Logger) async throws {
        self.eventLoop = eventLoop
        switchboard = try await eventLoop.submit {
            NIOLoopBound(DirectorySwitch(eventLoop: eventLoop, way: way, logger: logger), eventLoop: eventLoop)
        }.get()
    }

    /// Announces these cameras, in place of those that were announced before; none withdraws all.
    ///
    /// Returns before the network knows them: their names are tried for a second first.
    ///
    /// - Throws: `invalidParameter` for more than 128, for two with one id, and for a name or port that cannot be
    ///   announced.
    public func announce(cameras: [AnnouncedCamera]) async throws(IoTError) {
        let announcements = cameras.map(\.announcement)
        try Self.check(cameras)
        let switchboard = switchboard
        try? await eventLoop.submit { switchboard.value.announce(announcements) }.get()
    }

    /// What is found within this time.
    ///
    /// A device comes again when more becomes known of it, and once for each of its services; `DiscoveryTable` puts
    /// them together. When 1,024 wait to be read, further ones are dropped.
    public func find(for duration: Duration) -> AsyncStream<DeviceSighting> {
        stream(for: TimeAmount(duration)) { $0.sighting }
    }

    /// Services as they come and go, within this time or until the stream is left when it is `nil`.
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
        guard Set(cameras.map(\.id)).count == cameras.count else {
            throw IoTError(.invalidParameter, "two cameras have one id")
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
