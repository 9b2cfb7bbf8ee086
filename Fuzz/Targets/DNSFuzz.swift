import NIOCore

@testable import IoTCore
@testable import NetConfig

extension FuzzTarget {
    /// A parsed message, written and parsed again, is the same. A machine that announces and looks for cameras sends
    /// few packets in answer to one, none too long, and its storage is bounded.
    static let dns = FuzzTarget(
        "dns",
        cost: ReadingCost(size: DNSMessage.maximumSize) { input in
            var machine = DNSMachine()
            machine.receive(input)
        }
    ) { input in
        if let message = DNSMessage(parsing: input) {
            let written = message.encoded()
            // Writing may use compression where the input did not, or the reverse.
            if written.count <= DNSMessage.maximumSize {
                guard let again = DNSMessage(parsing: written) else {
                    throw FuzzFailure(description: "\(message) cannot be parsed again")
                }
                try require(again == message, "\(message) became \(again)")
            }
            try require(
                message.questions.count + message.answers.count <= input.count / 5, "more records than fit")
        }
        var machine = DNSMachine()
        for datagram in datagrams(input) { machine.receive(Array(datagram.readableBytesView)) }
        machine.receive(input)
        try require(machine.longest <= DNSMessage.maximumSize, "a packet of \(machine.longest) bytes")
        try require(machine.packets <= 40 + 8 * 65, "\(machine.packets) packets")
    }
}

/// A machine with two cameras that looks for others, in virtual time.
private struct DNSMachine {
    private(set) var packets = 0
    private(set) var longest = 0
    private var core = MulticastDNS(hostLabel: "host", generator: FuzzRandom())
    private var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let link = LinkDescription(
        id: ServiceLink(interface: 1, isIPv6: false), name: "lan0",
        networks: [.init(address: [192, 0, 2, 1], prefixLength: 24)])

    init() {
        let cameras = ["Front", "Yard"].map { name in
            AnnouncedCamera(name: name, deviceID: name, hasOwner: false, port: 5000).announcement
        }
        core.set(link, at: now)
        core.apply(WantedServices(announcements: cameras, types: Set(ServiceType.allCases)), at: now)
        pass(.seconds(5))
    }

    mutating func receive(_ bytes: [UInt8]) {
        for (host, port) in [(7, 5353), (8, 40_000)] as [(UInt8, Int)] {
            guard
                let source = try? SocketAddress(
                    packedIPAddress: ByteBuffer(bytes: [192, 0, 2, host]), port: port)
            else { continue }
            core.receive(bytes, from: source, on: link.id, at: now)
        }
        pass(.milliseconds(200))
    }

    private mutating func pass(_ time: TimeAmount) {
        let end = now + time
        drain()
        while let deadline = core.deadline, deadline <= end {
            now = max(now, deadline)
            core.handleTimeout(at: now)
            drain()
        }
        now = end
    }

    private mutating func drain() {
        while let output = core.poll() {
            guard case .transmit(let transmission, _) = output else { continue }
            packets += 1
            longest = max(longest, transmission.bytes.count)
        }
    }
}
