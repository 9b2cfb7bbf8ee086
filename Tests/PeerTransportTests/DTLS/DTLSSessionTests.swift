import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct DTLSSessionTests {
    struct Pair {
        let client: DTLSSession
        let server: DTLSSession
        var flights: [Int] = []

        init(clientExpects: [CertificateFingerprint]? = nil, serverExpects: [CertificateFingerprint]? = nil) throws {
            let clientCertificate = try PeerCertificate.generate()
            let serverCertificate = try PeerCertificate.generate()
            client = try DTLSSession(
                certificate: clientCertificate, role: .client,
                remoteFingerprints: clientExpects ?? [serverCertificate.fingerprint])
            server = try DTLSSession(
                certificate: serverCertificate, role: .server,
                remoteFingerprints: serverExpects ?? [clientCertificate.fingerprint])
        }

        mutating func run() throws {
            client.start()
            for _ in 0..<50 {
                var moved = false
                for (from, to) in [(client, server), (server, client)] {
                    while let datagram = from.nextDatagram() {
                        flights.append(datagram.readableBytes)
                        to.receive(datagram)
                        moved = true
                    }
                }
                if !moved { return }
            }
            Issue.record("the handshake does not finish")
        }
    }

    static func keys(_ session: DTLSSession) throws -> DTLSSession.Keys {
        guard case .connected(let keys) = session.state else {
            throw IoTError(.peerFailed, "\(session.state)")
        }
        return keys
    }

    @Test("Both sides get the same keys for AES-GCM, in datagrams of at most 1200 bytes")
    func handshake() throws {
        var pair = try Pair()
        try pair.run()
        let client = try Self.keys(pair.client)
        let server = try Self.keys(pair.server)
        #expect(client.keyingMaterial == server.keyingMaterial)
        #expect(client.profile == .aeadAES128GCM)
        #expect(client.keyingMaterial.count == 56)
        #expect(pair.flights.allSatisfy { $0 <= 1200 })
        #expect(pair.client.cipherName == "ECDHE-ECDSA-AES128-GCM-SHA256")
        #expect(pair.client.remainingTime == nil)
    }

    @Test("A certificate with a wrong fingerprint ends the handshake on the side that checks it")
    func wrongFingerprint() throws {
        let other = try PeerCertificate.generate().fingerprint
        var pair = try Pair(clientExpects: [other])
        try pair.run()
        guard case .failed(let error) = pair.client.state else {
            Issue.record("\(pair.client.state)")
            return
        }
        #expect(error.code == .peerFailed)
        #expect(error.message.contains("fingerprint"))
        guard case .closed = pair.server.state else {
            Issue.record("\(pair.server.state)")
            return
        }
        var second = try Pair(serverExpects: [other])
        try second.run()
        if case .failed = second.server.state {} else { Issue.record("\(second.server.state)") }
    }

    @Test("Of several hashes the strongest algorithm decides, and any hash of that algorithm may match")
    func severalFingerprints() throws {
        let certificate = try PeerCertificate.generate()
        let weak = certificate.fingerprint
        let wrongStrong = CertificateFingerprint(algorithm: .sha512, bytes: Array(repeating: 0, count: 64))
        let wrongWeak = CertificateFingerprint(algorithm: .sha256, bytes: Array(repeating: 0, count: 32))
        for (fingerprints, isRight) in [
            ([weak], true), ([wrongWeak, weak], true), ([weak, wrongStrong], false), ([], false),
        ] {
            let client = try DTLSSession(
                certificate: PeerCertificate.generate(), role: .client, remoteFingerprints: fingerprints)
            let server = try DTLSSession(certificate: certificate, role: .server, remoteFingerprints: [])
            client.start()
            for _ in 0..<10 {
                while let datagram = client.nextDatagram() { server.receive(datagram) }
                while let datagram = server.nextDatagram() { client.receive(datagram) }
            }
            if case .failed = client.state { #expect(!isRight) } else { #expect(isRight) }
        }
    }

    @Test("A goodbye closes the other side")
    func closes() throws {
        var pair = try Pair()
        try pair.run()
        pair.client.close()
        while let datagram = pair.client.nextDatagram() { pair.server.receive(datagram) }
        guard case .closed = pair.server.state else {
            Issue.record("\(pair.server.state)")
            return
        }
    }

    @Test("Noise, truncated and repeated records neither end an association nor trap")
    func noise() throws {
        var generator = SeededGenerator(seed: 12)
        let certificate = try PeerCertificate.generate()
        let client = try DTLSSession(
            certificate: certificate, role: .client, remoteFingerprints: [certificate.fingerprint])
        let server = try DTLSSession(
            certificate: certificate, role: .server, remoteFingerprints: [certificate.fingerprint])
        client.start()
        func harass(_ session: DTLSSession, with datagram: ByteBuffer) {
            for _ in 0..<20 {
                let bytes = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
                session.receive(ByteBuffer(bytes: [22, 254, 253] + bytes))
            }
            session.receive(ByteBuffer(datagram.readableBytesView.prefix(9)))
        }
        for _ in 0..<10 {
            while let datagram = client.nextDatagram() {
                harass(server, with: datagram)
                server.receive(datagram)
                server.receive(datagram)
            }
            while let datagram = server.nextDatagram() {
                harass(client, with: datagram)
                client.receive(datagram)
                client.receive(datagram)
            }
        }
        #expect(try Self.keys(client).keyingMaterial == Self.keys(server).keyingMaterial)
    }

    @Test("A fingerprint's text is parsed back, and a malformed one is refused")
    func fingerprintText() throws {
        let fingerprint = try PeerCertificate.generate().fingerprint
        #expect(try CertificateFingerprint(parsing: fingerprint.text) == fingerprint)
        #expect(try CertificateFingerprint(parsing: fingerprint.text.lowercased()) == fingerprint)
        #expect(try CertificateFingerprint(parsing: "sha-1 00:11") == nil)
        for text in ["", "sha-256", "sha-256 ", "sha-256 00:11", fingerprint.text + ":00", "sha-256 é"] {
            #expect(throws: IoTError.self) { try CertificateFingerprint(parsing: text) }
        }
    }
}
