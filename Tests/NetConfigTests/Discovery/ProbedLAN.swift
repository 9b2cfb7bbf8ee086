import IoTCore
import NIOCore
import TestSupport

@testable import NetConfig

/// A network in virtual time that loses, delays, doubles and reorders datagrams, by a seed.
struct ProbedLAN {
    /// A camera of another maker: answers each Probe once, and may want its type in it.
    struct Stranger {
        var fixture: Fixture
        var address: IPAddress
        /// False for those that answer a Probe for their type alone.
        var answersEverybody: Bool
        var answered: Set<String> = []
    }

    private enum Place {
        case searcher
        case box(Int)
        case stranger(Int)
    }

    private struct Flight {
        var time: NIODeadline
        var to: Place
        var bytes: [UInt8]
        var from: IPAddress
    }

    private var random: SeededGenerator
    private let loss: Double
    private var prober: WSDProber
    private var boxes: [WSDResponder]
    private var strangers: [Stranger]
    private var flights: [Flight] = []
    private let end: NIODeadline
    private static let start = NIODeadline.uptimeNanoseconds(1)
    private(set) var table = DiscoveryTable()
    /// When the last new device was found.
    private(set) var last = TimeAmount.zero
    private(set) var probes = 0
    private var known: Set<String> = []

    init(seed: UInt64, loss: Double, duration: TimeAmount, boxes: [[AnnouncedCamera]], strangers: [Stranger]) {
        random = SeededGenerator(seed: seed)
        self.loss = loss
        self.strangers = strangers
        prober = WSDProber(duration, from: Self.start, random: SeededGenerator(seed: seed &+ 1))
        self.boxes = boxes.enumerated().map { index, cameras in
            WSDResponder(
                cameras.map { WSDTarget($0) }, instance: 1, random: SeededGenerator(seed: seed &+ 2 &+ UInt64(index)))
        }
        end = Self.start + duration
    }

    static func address(ofBox index: Int) -> IPAddress { IPAddress("192.0.2.\(100 + index)")! }
    private static let searcher = IPAddress("192.0.2.1")!

    mutating func run() {
        while let now = next(), now <= end {
            for datagram in prober.due(at: now) {
                probes += 1
                for index in boxes.indices { send(datagram, to: .box(index), from: Self.searcher, now) }
                for index in strangers.indices { send(datagram, to: .stranger(index), from: Self.searcher, now) }
            }
            for index in boxes.indices {
                for output in boxes[index].due(at: now) {
                    send(output.datagram, to: .searcher, from: Self.address(ofBox: index), now)
                }
            }
            let arrived = flights.filter { $0.time <= now }
            flights.removeAll { $0.time <= now }
            for flight in arrived { receive(flight, now) }
        }
    }

    private func next() -> NIODeadline? {
        ([prober.nextDeadline] + boxes.map(\.nextDeadline) + flights.map(\.time)).compactMap { $0 }.min()
    }

    private mutating func send(_ bytes: [UInt8], to place: Place, from: IPAddress, _ now: NIODeadline) {
        for _ in 0..<(Double.random(in: 0..<1, using: &random) < 0.1 ? 2 : 1) {
            guard Double.random(in: 0..<1, using: &random) >= loss else { continue }
            let delay = TimeAmount.milliseconds(.random(in: 1...60, using: &random))
            flights.append(Flight(time: now + delay, to: place, bytes: bytes, from: from))
        }
    }

    private mutating func receive(_ flight: Flight, _ now: NIODeadline) {
        switch flight.to {
        case .box(let index):
            let peer = WSDResponder.Peer(address: flight.from, port: 5000, interface: 1)
            boxes[index].receive(flight.bytes, from: peer, isOnLink: true, at: now)
        case .stranger(let index): answer(flight, index, now)
        case .searcher:
            guard let message = try? WSDMessage(flight.bytes) else { return }
            let targets: [WSDTarget]
            switch message.body {
            case .probeMatches(let found): targets = found
            case .hello(let target): targets = [target]
            default: targets = []
            }
            for target in targets where target.isCamera {
                table.add(DiscoveredDevice(target, from: flight.from))
                if known.insert(target.endpoint).inserted { last = now - Self.start }
            }
        }
    }

    private mutating func answer(_ flight: Flight, _ index: Int, _ now: NIODeadline) {
        guard let message = try? WSDMessage(flight.bytes), case .probe(let filter) = message.body,
            filter.types == [WSDNamespace.videoTransmitter]
                || filter.types.isEmpty && strangers[index].answersEverybody,
            strangers[index].answered.insert(message.id).inserted
        else { return }
        let wait = TimeAmount.milliseconds(.random(in: 0...500, using: &random))
        send(strangers[index].fixture.bytes, to: .searcher, from: strangers[index].address, now + wait)
    }
}
