import Logging
import NIOCore

/// Chooses the implementation of multicast DNS, and reports found services to all searches. Confined to its event loop.
final class DirectorySwitch {
    struct Subscriber: Sendable {
        let id = SubscriberID()
        let take: @Sendable (ServiceEvent) -> Void
        let end: @Sendable () -> Void
    }

    /// Compared by identity.
    final class SubscriberID: Sendable {}

    private enum Way: Hashable {
        case avahi, own
    }

    private struct Source: Hashable {
        var way: Way
        var link: ServiceLink
    }

    private let eventLoop: any EventLoop
    private let way: LocalServices.Way
    private let logger: Logger
    private var wanted = WantedServices()
    private var subscribers: [ObjectIdentifier: Subscriber] = [:]
    private var ends: [ObjectIdentifier: Scheduled<Void>] = [:]
    private var table = InstanceTable<Source>()
    private var avahi: (any ServiceDirectory)?
    private var own: (any ServiceDirectory)?
    private var isAvahiRunning: Bool?
    private var change: Scheduled<Void>?
    private var cleaning: Scheduled<Void>?
    private var lookout: Scheduled<Void>?
    private var isBegun = false
    private var isClosed = false

    static let maximumSubscribers = 64
    /// The time in which Avahi must report whether it runs, and return after a stop: a restart takes less.
    private static let patience = TimeAmount.seconds(2)
    /// The interval between checks for Avahi if it is not installed.
    private static let lookoutInterval = TimeAmount.seconds(20)
    /// How long one implementation's services stay known after the change to the other, which finds them again.
    private static let memory = TimeAmount.seconds(10)

    init(eventLoop: any EventLoop, way: LocalServices.Way, logger: Logger) {
        self.eventLoop = eventLoop
        self.way = way
        self.logger = logger
    }

    func announce(_ announcements: [ServiceAnnouncement]) {
        guard announcements != wanted.announcements else { return }
        wanted.announcements = announcements
        apply()
    }

    /// Reports the known services, and then those that are found; ends after `duration`.
    func add(_ subscriber: Subscriber, for duration: TimeAmount?) {
        guard !isClosed, subscribers.count < Self.maximumSubscribers else { return subscriber.end() }
        let id = ObjectIdentifier(subscriber.id)
        subscribers[id] = subscriber
        for instance in table.instances.values { subscriber.take(.found(instance)) }
        if let duration {
            ends[id] = eventLoop.assumeIsolated().scheduleTask(in: duration) { self.remove(subscriber.id) }
        }
        wanted.types = Set(ServiceType.allCases)
        apply()
    }

    func remove(_ id: SubscriberID) {
        let id = ObjectIdentifier(id)
        ends.removeValue(forKey: id)?.cancel()
        guard let subscriber = subscribers.removeValue(forKey: id) else { return }
        subscriber.end()
        guard subscribers.isEmpty, !isClosed else { return }
        // Without subscribers, nothing is searched for or stored.
        wanted.types = []
        table = InstanceTable()
        apply()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        end()
        for end in ends.values { end.cancel() }
        for subscriber in subscribers.values { subscriber.end() }
        (subscribers, ends) = ([:], [:])
    }

    // MARK: The two implementations

    private func apply() {
        guard !isClosed else { return }
        guard !wanted.isEmpty else { return end() }
        if isBegun {
            avahi?.apply(wanted)
            own?.apply(wanted)
        } else {
            begin()
        }
    }

    private func begin() {
        isBegun = true
        if way != .multicastDNS { beginAvahi() }
        if way == .avahi { return }
        if avahi == nil { beginOwn() } else { beginOwn(after: Self.patience) }
    }

    /// Called if nothing is wanted: closes all sockets, threads and timers.
    private func end() {
        for timer in [change, cleaning, lookout] { timer?.cancel() }
        avahi?.close()
        own?.close()
        (avahi, own, isAvahiRunning, isBegun) = (nil, nil, nil, false)
    }

    /// Checks again later if Avahi is not installed.
    private func beginAvahi() {
        avahi = AvahiDirectory(eventLoop: eventLoop) { report in self.take(report, from: .avahi) }
        if let avahi { return avahi.apply(wanted) }
        lookout = eventLoop.assumeIsolated().scheduleTask(in: Self.lookoutInterval) { self.beginAvahi() }
    }

    private func beginOwn(after delay: TimeAmount) {
        guard way != .avahi, own == nil else { return }
        change?.cancel()
        change = eventLoop.assumeIsolated().scheduleTask(in: delay) { self.beginOwn() }
    }

    private func beginOwn() {
        guard own == nil, !isClosed else { return }
        logger.info("multicast DNS is served by this program")
        let own = MulticastDirectory(eventLoop: eventLoop, logger: logger) { report in self.take(report, from: .own) }
        self.own = own
        own.apply(wanted)
        own.start()
        forget(.avahi)
    }

    private func avahiChanged(isRunning: Bool) {
        guard isAvahiRunning != isRunning else { return }
        let isFirst = isAvahiRunning == nil
        isAvahiRunning = isRunning
        guard isRunning else { return beginOwn(after: isFirst ? .zero : Self.patience) }
        logger.info("multicast DNS is served by the Avahi daemon")
        change?.cancel()
        own?.close()
        own = nil
        forget(.own)
    }

    /// Delayed, so that services that the other implementation finds again are not reported as lost.
    private func forget(_ way: Way) {
        cleaning?.cancel()
        cleaning = eventLoop.assumeIsolated().scheduleTask(in: Self.memory) {
            self.table.remove { $0.way == way }.forEach(self.publish)
        }
    }

    private func take(_ report: DirectoryReport, from way: Way) {
        guard !isClosed else { return }
        switch report {
        case .isRunning(let isRunning): avahiChanged(isRunning: isRunning)
        case .service(let event, let link):
            guard !subscribers.isEmpty else { return }
            if let event = table.take(event, from: Source(way: way, link: link)) { publish(event) }
        case .linkIsGone(let link): table.remove { $0 == Source(way: way, link: link) }.forEach(publish)
        case .named(let id, let name):
            guard let announcement = wanted.announcements.first(where: { $0.id == id }), announcement.name != name
            else { return }
            logger.notice(
                "a camera's name is taken on the network: it is announced under another",
                metadata: ["device.id": "\(id)", "name": "\(name)"])
        }
    }

    private func publish(_ event: ServiceEvent) {
        for subscriber in subscribers.values { subscriber.take(event) }
    }
}
