import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// Two connections and the link between them, in virtual time, which OpenSSL also uses.
final class PeerLink {
    struct Datagram {
        var bytes: ByteBuffer
        var sender: Int
        var arrival: NIODeadline
    }

    /// Peer 0 offers and controls, peer 1 answers.
    let peers: [PeerConnection]
    let addresses: [SocketAddress]
    var events: [[PeerEvent]] = [[], []]
    var isEnded = [false, false]
    var now: NIODeadline
    var delay = TimeAmount.milliseconds(10)
    var jitter = TimeAmount.zero
    var lossRate = 0.0
    var isCut = false

    /// The capacity of the path from peer 0 in bits per second, with 28 bytes of IP and UDP for each datagram; `nil`
    /// for no limit. A datagram that finds more than `queueLimit` bytes waiting is dropped.
    var rate: Int?
    var queueLimit = 64_000
    private var waiting: [ByteBuffer] = []
    private var waitingBytes = 0
    private var serviceEnd: NIODeadline?
    private(set) var queueDrops = 0

    /// How long a further datagram would wait.
    var queueDelay: TimeAmount {
        rate.map { .microseconds(Int64(waitingBytes) * 8_000_000 / Int64($0)) } ?? .zero
    }
    var captured: [ByteBuffer] = []
    var isCapturing = true

    /// Replaces a datagram on the path by none, itself, or several.
    var tamper: (Int, ByteBuffer) -> [ByteBuffer] = { [$1] }

    /// The sender's reaction to an event, for example a retransmission.
    var onEvent: (Int, PeerEvent) -> Void = { _, _ in }
    private var random: SeededGenerator
    private var flying: [Datagram] = []

    init(
        sections: [MediaSection] = PeerLink.cameraSections, answering: [MediaSection] = [], seed: UInt64 = 1,
        adjust: (inout PeerConfiguration) -> Void = { _ in }
    ) throws {
        let now = NIODeadline.uptimeNanoseconds(5_000_000_000)
        self.now = now
        random = SeededGenerator(seed: seed)
        addresses = try ["192.0.2.1", "2001:db8::2", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 4000) }
        var configurations = [
            PeerConfiguration(hostAddresses: [addresses[0]], isControlling: true, sections: sections),
            PeerConfiguration(
                hostAddresses: [addresses[2], addresses[1]], isControlling: false, sections: answering),
        ]
        for index in 0...1 {
            configurations[index].wallClock = { 1_800_000_000_000_000 }
            adjust(&configurations[index])
        }
        peers = try configurations.enumerated().map { index, configuration in
            PeerConnection(
                configuration: configuration, certificate: try PeerCertificate.generate(), now: now,
                generator: SeededGenerator(seed: seed &* 2 &+ UInt64(index)))
        }
    }

    static let cameraSections = [
        MediaSection(mid: "0", kind: .video, direction: .sendOnly, codecs: [MediaFixtures.h264]),
        MediaSection(mid: "1", kind: .audio, direction: .sendReceive, codecs: [MediaFixtures.pcma]),
    ]

    /// Exchanges offer and answer as text.
    func exchangeDescriptions(
        tamper: (String) -> String = { $0 }, adjustOffer: (inout SessionDescription) -> Void = { _ in }
    ) throws {
        let answer = try makeAnswer(adjustOffer: adjustOffer)
        try peers[0].setAnswer(SessionDescription(parsing: tamper(answer.text)))
    }

    func makeAnswer(adjustOffer: (inout SessionDescription) -> Void = { _ in }) throws -> SessionDescription {
        var offer = try peers[0].createOffer()
        adjustOffer(&offer)
        return try peers[1].createAnswer(to: SessionDescription(parsing: offer.text))
    }

    func connect() throws {
        try exchangeDescriptions()
        try run(for: .seconds(3)) { $0.areConnected }
        try #require(areConnected)
    }

    var areConnected: Bool {
        peers.allSatisfy { if case .connected = $0.state { true } else { false } }
    }

    /// Runs until the condition is true or the time has passed.
    func run(for time: TimeAmount, until condition: (PeerLink) -> Bool = { _ in false }) throws {
        try OpenSSLClock.run(from: now) { try runInVirtualTime(for: time, until: condition) }
    }

    private func runInVirtualTime(for time: TimeAmount, until condition: (PeerLink) -> Bool) throws {
        let end = now + time
        var steps = 0
        while true {
            var next = end
            for index in 0...1 {
                if let deadline = drain(index) { next = min(next, deadline) }
            }
            if condition(self) { return }
            if let arrival = flying.first?.arrival { next = min(next, arrival) }
            if let serviceEnd { next = min(next, serviceEnd) }
            if now >= end { return }
            now = max(now, next)
            OpenSSLClock.set(now)
            steps += 1
            try #require(steps < 1_000_000)
            finishService()
            deliver()
            for index in 0...1 { peers[index].handleTimeout(at: now) }
        }
    }

    private func drain(_ index: Int) -> NIODeadline? {
        while let output = peers[index].poll() {
            switch output {
            case .timeout(let deadline):
                return deadline
            case .event(let event):
                events[index].append(event)
                onEvent(index, event)
            case .network:
                break
            case .transmit(let bytes, _):
                #expect(bytes.readableBytes <= 1200)
                if isCapturing { captured.append(bytes) }
                guard !isCut, Double.random(in: 0..<1, using: &random) >= lossRate else { continue }
                for result in tamper(index, bytes) {
                    if index == 0, rate != nil {
                        enqueue(result)
                    } else {
                        fly(result, from: index)
                    }
                }
            }
        }
        isEnded[index] = true
        return nil
    }

    /// Sends a third party's datagram to a peer; by default from the other peer's address.
    func inject(_ bytes: ByteBuffer, to index: Int, from source: SocketAddress? = nil) {
        peers[index].receive(bytes, from: source ?? (index == 1 ? addresses[0] : addresses[2]), at: now)
    }

    private func fly(_ bytes: ByteBuffer, from index: Int) {
        let extra = jitter > .zero ? Int64.random(in: 0...jitter.nanoseconds, using: &random) : 0
        let datagram = Datagram(bytes: bytes, sender: index, arrival: now + delay + .nanoseconds(extra))
        // By arrival; datagrams with the same arrival stay in order of sending.
        let place = flying.lastIndex { $0.arrival <= datagram.arrival }
        flying.insert(datagram, at: place.map { $0 + 1 } ?? 0)
    }

    private func enqueue(_ bytes: ByteBuffer) {
        guard waitingBytes + bytes.readableBytes + 28 <= queueLimit else {
            queueDrops += 1
            return
        }
        waiting.append(bytes)
        waitingBytes += bytes.readableBytes + 28
        if serviceEnd == nil { serve() }
    }

    private func serve() {
        serviceEnd = waiting.first.map {
            now + .nanoseconds(Int64($0.readableBytes + 28) * 8_000_000_000 / Int64(rate ?? .max))
        }
    }

    private func finishService() {
        while let end = serviceEnd, end <= now {
            let bytes = waiting.removeFirst()
            waitingBytes -= bytes.readableBytes + 28
            fly(bytes, from: 0)
            serve()
        }
    }

    private func deliver() {
        let due = flying.prefix { $0.arrival <= now }
        flying.removeFirst(due.count)
        for datagram in due {
            let source = datagram.sender == 0 ? addresses[0] : addresses[2]
            peers[1 - datagram.sender].receive(datagram.bytes, from: source, at: now)
        }
    }

    // MARK: Results

    func frames(_ index: Int, mid: String) -> [ReceivedFrame] {
        events[index].compactMap { if case .frame(mid, let frame) = $0 { frame } else { nil } }
    }

    func states(_ index: Int) -> [String] {
        events[index].compactMap { event in
            guard case .stateChanged(let state) = event else { return nil }
            if case .failed(let error) = state { return "failed \(error.code.name)" }
            return "\(state)"
        }
    }
}
