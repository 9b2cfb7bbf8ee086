import IoTCore
import NIOCore

/// Multicast DNS and DNS service discovery for one machine (RFC 6762, RFC 6763): announces and finds services on
/// any number of links. Owns no socket, clock, task or logger.
///
/// A name is the same on every link: a conflict on one link changes it on all.
struct MulticastDNS {
    enum Output: Hashable {
        case transmit(Transmission, on: ServiceLink)
        case service(ServiceEvent, on: ServiceLink)
        case named(id: String, String)
    }

    private struct Link {
        var description: LinkDescription
        var responder: LinkResponder
        var browser: LinkBrowser
    }

    private var links: [ServiceLink: Link] = [:]
    private var wanted = WantedServices()
    /// The number of conflicts of each name.
    private var attempts: [OwnedRecords.Owner: Int] = [:]
    private let hostLabel: String
    private var generator: any RandomNumberGenerator
    private var outputs = CircularBuffer<Output>()

    /// - Parameter hostLabel: The first label of the host's name; not the system's name, which another responder has.
    init(hostLabel: String, generator: any RandomNumberGenerator = SystemRandomNumberGenerator()) {
        self.hostLabel = hostLabel
        self.generator = generator
    }

    // MARK: Requests

    mutating func apply(_ wanted: WantedServices, at now: NIODeadline) {
        let before = self.wanted
        self.wanted = wanted
        let ids = Set(wanted.announcements.map(\.id))
        for gone in before.announcements where !ids.contains(gone.id) {
            attempts[.service(gone.id)] = nil
            for id in links.keys { links[id]?.responder.remove(.service(gone.id)) }
        }
        for announcement in wanted.announcements {
            let old = before.announcements.first { $0.id == announcement.id }
            // Another wanted name starts with its first attempt.
            if let old, old.name != announcement.name { attempts[.service(announcement.id)] = nil }
            if old?.name != announcement.name { reportName(announcement) }
        }
        for id in links.keys {
            setRecords(on: id, at: now)
            links[id]?.browser.browse(wanted.types, at: now)
        }
        collect()
    }

    /// Adds the link, or updates its addresses.
    mutating func set(_ link: LinkDescription, at now: NIODeadline) {
        if links[link.id] == nil {
            links[link.id] = Link(
                description: link, responder: LinkResponder(jitter: nextJitter()),
                browser: LinkBrowser(zone: link.name, jitter: nextJitter()))
            links[link.id]?.browser.browse(wanted.types, at: now)
        }
        links[link.id]?.description = link
        setRecords(on: link.id, at: now)
        collect()
    }

    /// Its services are removed without events: the caller removes them itself.
    mutating func remove(_ link: ServiceLink) {
        links[link] = nil
    }

    /// Says goodbye everywhere and ends.
    mutating func close() {
        for id in links.keys { links[id]?.responder.removeAll() }
        collect()
        links = [:]
    }

    private mutating func nextJitter() -> Jitter {
        Jitter(Seed(state: UInt64.random(in: 0 ... .max, using: &generator)))
    }

    // MARK: Names

    private var hostName: DNSName {
        let attempt = attempts[.host] ?? 0
        let label = ServiceAnnouncement.label(hostLabel, suffix: attempt == 0 ? "" : "-\(attempt + 1)")
        return DNSName.local.prefixed(by: label.utf8) ?? .local
    }

    private mutating func setRecords(on id: ServiceLink, at now: NIODeadline) {
        guard let description = links[id]?.description else { return }
        let addresses = description.networks.map(\.address).filter { address in
            wanted.announcements.contains { $0.isReachable(at: address) }
        }
        let host = hostName
        if addresses.isEmpty {
            links[id]?.responder.remove(.host)
        } else {
            links[id]?.responder.set(.host, .host(host, addresses: addresses), at: now)
        }
        for announcement in wanted.announcements {
            let owner = OwnedRecords.Owner.service(announcement.id)
            guard addresses.contains(where: announcement.isReachable) else {
                links[id]?.responder.remove(owner)
                continue
            }
            let label = announcement.label(attempt: attempts[owner] ?? 0)
            guard let name = announcement.type.name.prefixed(by: label.utf8) else { continue }
            links[id]?.responder.set(owner, .service(announcement, name: name, host: host), at: now)
        }
    }

    private mutating func rename(_ owners: [OwnedRecords.Owner], at now: NIODeadline) {
        for owner in owners {
            attempts[owner, default: 0] += 1
            if case .service(let id) = owner, let announcement = wanted.announcements.first(where: { $0.id == id }) {
                reportName(announcement)
            }
        }
        for id in links.keys { setRecords(on: id, at: now) }
    }

    private mutating func reportName(_ announcement: ServiceAnnouncement) {
        let label = announcement.label(attempt: attempts[.service(announcement.id)] ?? 0)
        outputs.append(.named(id: announcement.id, label))
    }

    // MARK: Input

    /// Processes a datagram. A damaged one, or one that is not from this link, is dropped silently.
    mutating func receive(_ bytes: [UInt8], from source: SocketAddress, on id: ServiceLink, at now: NIODeadline) {
        guard let link = links[id], let address = source.packedBytes, link.description.contains(address),
            let message = DNSMessage(parsing: bytes)
        else { return }
        if message.isResponse {
            // RFC 6762 §6: a response from another port is not valid.
            guard source.port == Transmission.port else { return }
            receive(response: message, from: address, on: id, at: now)
        } else {
            links[id]?.responder.receive(query: message, from: source, at: now)
        }
        collect()
    }

    private mutating func receive(response: DNSMessage, from address: [UInt8], on id: ServiceLink, at now: NIODeadline)
    {
        // Two of our interfaces may be on one network, where each receives the other's addresses.
        let ours = Set(links.values.flatMap { $0.responder.entries.values.flatMap(\.records.unique) }.map(\.identity))
        let renamed =
            links[id]?.responder.receive(response: response, isOurs: { ours.contains($0.identity) }, at: now) ?? []
        if !renamed.isEmpty { rename(renamed, at: now) }
        links[id]?.browser.receive(response, from: address, at: now)
    }

    // MARK: Output

    var deadline: NIODeadline? {
        links.values.flatMap { [$0.responder.deadline, $0.browser.deadline].compactMap { $0 } }.min()
    }

    mutating func handleTimeout(at now: NIODeadline) {
        for id in links.keys {
            if let due = links[id]?.responder.deadline, due <= now { links[id]?.responder.handleTimeout(at: now) }
            if let due = links[id]?.browser.deadline, due <= now { links[id]?.browser.handleTimeout(at: now) }
        }
        collect()
    }

    /// Call it until `nil`; then wait until `deadline` or the next datagram.
    mutating func poll() -> Output? {
        outputs.popFirst()
    }

    private mutating func collect() {
        for (id, link) in links.sorted(by: { $0.key < $1.key }) {
            let transmissions = link.responder.transmissions + link.browser.transmissions
            outputs.append(contentsOf: transmissions.map { .transmit($0, on: id) })
            outputs.append(contentsOf: link.browser.events.map { .service($0, on: id) })
            links[id]?.responder.transmissions = []
            links[id]?.browser.transmissions = []
            links[id]?.browser.events = []
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014), which is sufficient for delays.
private struct Seed: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
