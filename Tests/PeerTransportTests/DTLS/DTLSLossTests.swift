import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

/// Handshakes over a lossy link in virtual time.
@Suite struct DTLSLossTests {
    /// Two sessions and the link between them.
    final class Link {
        let sessions: [DTLSSession]
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var sent = 0
        var largest = 0
        private var flying: [(bytes: ByteBuffer, to: Int, arrival: NIODeadline)] = []

        /// Whether the datagram with this number, from 0, is lost.
        var isLost: (Int) -> Bool = { _ in false }

        init(maximumDatagram: Int = 1200) throws {
            let certificates = (try PeerCertificate.generate(), try PeerCertificate.generate())
            sessions = [
                try DTLSSession(
                    certificate: certificates.0, role: .client, remoteFingerprints: [certificates.1.fingerprint],
                    maximumDatagram: maximumDatagram),
                try DTLSSession(
                    certificate: certificates.1, role: .server, remoteFingerprints: [certificates.0.fingerprint],
                    maximumDatagram: maximumDatagram),
            ]
        }

        var areConnected: Bool {
            sessions.allSatisfy { if case .connected = $0.state { true } else { false } }
        }

        /// - Returns: the virtual time that the handshake took.
        func connect(limit: TimeAmount) throws -> TimeAmount {
            let start = now
            return try OpenSSLClock.run(from: now) {
                sessions[0].start()
                var steps = 0
                while !areConnected, now - start < limit {
                    collect()
                    if areConnected { break }
                    var next = start + limit
                    for session in sessions { if let wait = session.remainingTime { next = min(next, now + wait) } }
                    for datagram in flying { next = min(next, datagram.arrival) }
                    now = max(next, now + .microseconds(1))
                    OpenSSLClock.set(now)
                    for session in sessions { session.handleTimeout() }
                    deliver()
                    steps += 1
                    try #require(steps < 10_000)
                }
                return now - start
            }
        }

        private func collect() {
            for (index, session) in sessions.enumerated() {
                while let datagram = session.nextDatagram() {
                    largest = max(largest, datagram.readableBytes)
                    if !isLost(sent) { flying.append((datagram, 1 - index, now + .milliseconds(25))) }
                    sent += 1
                }
            }
        }

        private func deliver() {
            let due = flying.filter { $0.arrival <= now }
            flying.removeAll { $0.arrival <= now }
            for datagram in due { sessions[datagram.to].receive(datagram.bytes) }
        }
    }

    @Test("The loss of any one datagram of the handshake costs one retransmission")
    func oneLoss() throws {
        let whole = try Link()
        let time = try whole.connect(limit: .seconds(10))
        #expect(whole.areConnected)
        #expect(time < .milliseconds(150))
        for lost in 0..<whole.sent {
            let link = try Link()
            link.isLost = { $0 == lost }
            let time = try link.connect(limit: .seconds(10))
            // Only the side that waits for the last flight notices its loss.
            #expect(link.areConnected, "datagram \(lost)")
            #expect(time < .milliseconds(700), "datagram \(lost)")
        }
    }

    @Test(
        "With every third datagram lost at random the handshake still completes, and every flight fits",
        arguments: [1200, 500])
    func heavyLoss(maximumDatagram: Int) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let link = try Link(maximumDatagram: maximumDatagram)
            var random = SeededGenerator(seed: seed)
            link.isLost = { _ in Int.random(in: 0..<3, using: &random) == 0 }
            _ = try link.connect(limit: .seconds(60))
            #expect(link.areConnected, "seed \(seed)")
            #expect(link.largest <= maximumDatagram)
            let keys = try link.sessions.map(DTLSSessionTests.keys)
            #expect(keys[0].keyingMaterial == keys[1].keyingMaterial)
        }
    }

    @Test("On a dead link the retransmission interval grows to at most 4 s, and the retries end")
    func deadLink() throws {
        let link = try Link()
        link.isLost = { _ in true }
        let time = try link.connect(limit: .seconds(120))
        #expect(!link.areConnected)
        #expect((5...40).contains(link.sent))
        guard case .failed(let error) = link.sessions[0].state else {
            Issue.record("\(link.sessions[0].state) after \(time)")
            return
        }
        #expect(error.code == .peerFailed)
    }
}
