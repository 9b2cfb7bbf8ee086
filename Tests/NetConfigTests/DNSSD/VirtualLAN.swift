import IoTCore
import NIOCore
import TestSupport

@testable import NetConfig

/// Machines on one Ethernet in virtual time, with seeded loss and delay.
struct VirtualLAN {
    struct Packet {
        var at: NIODeadline
        var from: Int
        var bytes: [UInt8]
        var destination: Transmission.Destination
        var message: DNSMessage? { DNSMessage(parsing: bytes) }
    }

    private struct Delivery {
        var at: NIODeadline
        var number: Int
        var to: Int
        var from: SocketAddress
        var bytes: [UInt8]
    }

    private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    var nodes: [MulticastDNS] = []
    var isUp: [Bool] = []
    /// How many interfaces each has, all on this network.
    private var interfaces: [Int] = []
    /// Everything that was sent.
    private(set) var packets: [Packet] = []
    private(set) var events: [[ServiceEvent]] = []
    private(set) var names: [[String: String]] = []
    /// How many of a hundred packets are lost, each receiver for itself.
    var loss = 0
    private var deliveries: [Delivery] = []
    private var number = 0
    private var random: SeededGenerator

    init(seed: UInt64, loss: Int = 0) {
        random = SeededGenerator(seed: seed)
        self.loss = loss
    }

    static func link(_ node: Int, interface: Int = 1) -> LinkDescription {
        LinkDescription(
            id: ServiceLink(interface: interface, isIPv6: false), name: "lan\(interface - 1)",
            networks: [.init(address: address(node, interface: interface), prefixLength: 24)])
    }

    static func address(_ node: Int, interface: Int = 1) -> [UInt8] { [192, 0, 2, UInt8(node * 2 + interface)] }

    static func socket(_ address: [UInt8], port: Int = 5353) -> SocketAddress {
        // swift-format-ignore: NeverUseForceTry
        try! SocketAddress(packedIPAddress: ByteBuffer(bytes: address), port: port)
    }

    @discardableResult
    mutating func add(interfaces count: Int = 1) -> Int {
        let node = nodes.count
        nodes.append(MulticastDNS(hostLabel: "host\(node)", generator: SeededGenerator(seed: random.next())))
        isUp.append(true)
        interfaces.append(count)
        events.append([])
        names.append([:])
        for interface in 1...count { nodes[node].set(Self.link(node, interface: interface), at: now) }
        return node
    }

    mutating func announce(_ node: Int, _ announcements: [ServiceAnnouncement]) {
        nodes[node].apply(WantedServices(announcements: announcements), at: now)
        drain(node)
    }

    mutating func browse(_ node: Int) {
        nodes[node].apply(WantedServices(types: Set(ServiceType.allCases)), at: now)
        drain(node)
    }

    mutating func close(_ node: Int) {
        nodes[node].close()
        drain(node)
    }

    /// A stranger's datagram, to one node.
    mutating func send(_ bytes: [UInt8], from source: SocketAddress, to node: Int) {
        nodes[node].receive(bytes, from: source, on: ServiceLink(interface: 1, isIPv6: false), at: now)
        drain(node)
    }

    mutating func run(for time: TimeAmount, until isDone: (VirtualLAN) -> Bool = { _ in false }) {
        let end = now + time
        var steps = 0
        while !isDone(self) {
            steps += 1
            precondition(steps < 200_000, "this does not come to rest")
            let due = nodes.indices.filter { isUp[$0] }.compactMap { nodes[$0].deadline }.min()
            let next = [due, deliveries.map(\.at).min()].compactMap { $0 }.min()
            guard let next, next <= end else { break }
            now = max(now, next)
            deliver()
            for node in nodes.indices where isUp[node] {
                if let deadline = nodes[node].deadline, deadline <= now {
                    nodes[node].handleTimeout(at: now)
                    drain(node)
                }
            }
        }
        if !isDone(self) { now = end }
    }

    private mutating func deliver() {
        let ready = deliveries.filter { $0.at <= now }.sorted { $0.number < $1.number }
        deliveries.removeAll { $0.at <= now }
        for delivery in ready where isUp[delivery.to] {
            for interface in 1...interfaces[delivery.to] {
                let link = ServiceLink(interface: interface, isIPv6: false)
                nodes[delivery.to].receive(delivery.bytes, from: delivery.from, on: link, at: now)
            }
            drain(delivery.to)
        }
    }

    private mutating func drain(_ node: Int) {
        while let output = nodes[node].poll() {
            switch output {
            case .transmit(let transmission, let link): send(transmission, from: node, interface: link.interface)
            case .service(let event, _): events[node].append(event)
            case .named(let id, let name): names[node][id] = name
            }
        }
    }

    private mutating func send(_ transmission: Transmission, from node: Int, interface: Int) {
        packets.append(
            Packet(at: now, from: node, bytes: transmission.bytes, destination: transmission.destination))
        let source = Self.socket(Self.address(node, interface: interface))
        for other in nodes.indices {
            if case .unicast(let address) = transmission.destination,
                !(1...interfaces[other]).contains(where: { Self.socket(Self.address(other, interface: $0)) == address })
            {
                continue
            }
            // Who sends hears himself.
            if other != node, Int.random(in: 0..<100, using: &random) < loss { continue }
            number += 1
            // An Ethernet keeps the order between two machines.
            let delay = TimeAmount.microseconds(Int64.random(in: 100...3_000, using: &random))
            let last = deliveries.last { $0.to == other && $0.from == source }?.at ?? now
            deliveries.append(
                Delivery(
                    at: max(now + delay, last), number: number, to: other, from: source, bytes: transmission.bytes))
        }
    }

    /// The names of the services that a node knows now.
    func found(_ node: Int) -> Set<String> {
        var names: Set<String> = []
        for event in events[node] {
            switch event {
            case .found(let instance): names.insert(instance.key.name)
            case .lost(let key): names.remove(key.name)
            }
        }
        return names
    }

    /// The one of `camera(_:)`.
    static func deviceID(_ name: String) -> String {
        let digits = Hex.encode(Array(name.utf8.suffix(16)))
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    static func camera(_ name: String, id: String? = nil, hasOwner: Bool = false) -> ServiceAnnouncement {
        AnnouncedCamera(
            name: name, deviceID: id ?? deviceID(name), productID: "12345", serialNumber: "SN-\(name)", version: "1.2",
            macAddress: "02:00:00:00:00:07", hasOwner: hasOwner, keyFingerprint: .example, port: 5000
        ).announcement
    }
}
