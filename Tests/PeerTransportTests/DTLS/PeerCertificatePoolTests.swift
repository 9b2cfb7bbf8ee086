import Testing

@testable import PeerTransport

@Suite struct PeerCertificatePoolTests {
    @Test("A rotation changes the certificate of new connections; existing ones keep theirs")
    func rotation() throws {
        let pool = try PeerCertificatePool()
        let first = pool.current
        #expect(pool.current.fingerprint == first.fingerprint)
        let peer = try PeerCertificate.generate()
        let server = try DTLSSession(
            certificate: first, role: .server, remoteFingerprints: [peer.fingerprint])
        try pool.rotate()
        #expect(pool.current.fingerprint != first.fingerprint)
        let client = try DTLSSession(certificate: peer, role: .client, remoteFingerprints: [first.fingerprint])
        client.start()
        for _ in 0..<10 {
            while let datagram = client.nextDatagram() { server.receive(datagram) }
            while let datagram = server.nextDatagram() { client.receive(datagram) }
        }
        #expect(try DTLSSessionTests.keys(client).keyingMaterial == DTLSSessionTests.keys(server).keyingMaterial)
    }

    /// A clock that wakes its sleepers at once, a given number of times, and advances by the time that they sleep.
    struct CountedClock: Clock {
        typealias Instant = ContinuousClock.Instant
        let base = ContinuousClock.now
        let sleeps: Sleeps

        actor Sleeps {
            private(set) var taken: [Duration] = []
            let limit: Int
            init(limit: Int) { self.limit = limit }

            func take(_ duration: Duration) throws {
                guard taken.count < limit else { throw CancellationError() }
                taken.append(duration)
            }
        }

        var now: Instant { base }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await sleeps.take(base.duration(to: deadline))
        }
    }

    @Test("run rotates the certificate once per lifetime and ends with its task")
    func lifetimes() async throws {
        let pool = try PeerCertificatePool(lifetime: .seconds(60))
        let first = pool.current.fingerprint
        let sleeps = CountedClock.Sleeps(limit: 3)
        await pool.run(on: CountedClock(sleeps: sleeps))
        #expect(await sleeps.taken == [.seconds(60), .seconds(60), .seconds(60)])
        #expect(pool.current.fingerprint != first)
    }

    @Test(
        "SHA-384 and SHA-512 fingerprints identify a certificate like SHA-256",
        arguments: ["sha-256", "sha-384", "sha-512"])
    func hashes(name: String) throws {
        let algorithm = try #require(CertificateFingerprint.Algorithm(rawValue: name))
        let certificate = try PeerCertificate.generate()
        let fingerprint = try #require(certificate.fingerprint(algorithm))
        #expect(try CertificateFingerprint(parsing: fingerprint.text) == fingerprint)
        var other = fingerprint.bytes
        other[other.count - 1] ^= 1
        for (described, isRight) in [
            (fingerprint, true), (CertificateFingerprint(algorithm: algorithm, bytes: other), false),
        ] {
            let client = try DTLSSession(
                certificate: PeerCertificate.generate(), role: .client, remoteFingerprints: [described])
            let server = try DTLSSession(certificate: certificate, role: .server, remoteFingerprints: [])
            client.start()
            for _ in 0..<10 {
                while let datagram = client.nextDatagram() { server.receive(datagram) }
                while let datagram = server.nextDatagram() { client.receive(datagram) }
            }
            if case .failed = client.state { #expect(!isRight) } else { #expect(isRight) }
        }
    }
}
