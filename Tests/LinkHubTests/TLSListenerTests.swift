import Foundation
import Glibc
import IoTCore
import IoTLink
import Testing

@testable import LinkHub

@Suite("The TLS listener over a real broker", .timeLimit(.minutes(1)))
struct TLSListenerTests {
    private static func tls(names: [String] = []) -> HubTLS { HubTLS(host: "127.0.0.1", port: 0, names: names) }

    /// Runs a session at `endpoint`, and returns the first status that `fits`.
    private static func status(
        of principal: Principal, _ token: String, at endpoint: LinkEndpoint,
        where fits: @escaping @Sendable (LinkStatusChange) -> Bool
    ) async throws -> LinkStatusChange {
        let session = LinkSession(
            configuration: LinkConfiguration(principal: principal, token: .value(token), endpoint: endpoint),
            logger: quietLogger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await session.run() }
            defer { group.cancelAll() }
            for await change in session.statusChanges() where fits(change) { return change }
            throw IoTError(.linkUnavailable, "the session ended as \(session.current)")
        }
    }

    private static func parts(_ endpoint: LinkEndpoint?) throws -> (host: String, port: Int, file: String) {
        guard case .tls(let host, let port, let file)? = endpoint else { throw IoTError(.notFound, "no TLS endpoint") }
        return (host, port, file)
    }

    @Test("A principal registers over TLS and over the socket, and sends requests; the listener refuses plain TCP")
    func registers() async throws {
        let directory = TemporaryDirectory()
        try await withHub(in: directory, tls: Self.tls()) { hub in
            let (owner, token, _, _) = try await hub.ownerAndDevice()
            let endpoint = try #require(hub.tlsEndpoint)
            let (host, port, file) = try Self.parts(endpoint)
            #expect(host == "127.0.0.1")
            #expect(try CertificateAuthority(file: file).fingerprint == hub.certificateAuthorityFingerprint)
            let configuration = LinkConfiguration(principal: owner, token: .value(token), endpoint: endpoint)
            try await withSession(configuration) { session in
                let devices = try await session.request("device.list")
                #expect(devices["devices"]?.arrayValue?.count == 1)
            }
            try await withSession(hub, owner, token) { session in _ = try await session.request("device.list") }

            let plain = try await Self.status(of: owner, token, at: .tcp(host: host, port: port)) {
                $0.status == .offline
            }
            #expect(plain.cause == .connectionLost || plain.cause == .noAnswer)
            // The client also does not fall back to plain TCP.
            let mute = LinkEndpoint.tls(host: "127.0.0.1", port: 1, certificateAuthorityFile: file)
            let nobody = try await Self.status(of: owner, token, at: mute) { $0.status == .offline }
            #expect(nobody.reason?.code == .linkUnavailable)
        }
    }

    @Test("A slow TCP connection is awaited, and the handshake follows it")
    func slowNetwork() async throws {
        try await withHub(in: TemporaryDirectory(), tls: Self.tls()) { hub in
            let (owner, token, _, _) = try await hub.ownerAndDevice()
            let (host, port, file) = try Self.parts(hub.tlsEndpoint)
            let relay = try SlowRelay(to: port)
            let endpoint = LinkEndpoint.tls(host: host, port: relay.port, certificateAuthorityFile: file)
            let configuration = LinkConfiguration(principal: owner, token: .value(token), endpoint: endpoint)
            try await withSession(configuration) { session in
                #expect(relay.hasDelayed)
                _ = try await session.request("device.list")
                #expect(session.counters.onlineCount == 1)
            }
        }
    }

    @Test("Another authority is refused with both fingerprints, also after the hub was replaced")
    func wrongAuthority() async throws {
        let directory = TemporaryDirectory()
        let other = TemporaryDirectory()
        let foreign = try HubAuthority(dataDirectory: other.path, now: WallClock.milliseconds() / 1_000)
        try await withHub(in: directory, tls: Self.tls()) { hub in
            let (owner, token, _, _) = try await hub.ownerAndDevice()
            let (host, port, _) = try Self.parts(hub.tlsEndpoint)
            let endpoint = LinkEndpoint.tls(
                host: host, port: port, certificateAuthorityFile: foreign.certificateFile)
            let change = try await Self.status(of: owner, token, at: endpoint) { $0.status == .offline }
            #expect(change.reason?.code == .certificateRejected)
            let message = change.reason?.message ?? ""
            #expect(message.contains(Hex.encode(foreign.certificate.fingerprint)))
            #expect(message.contains(Hex.encode(try #require(hub.certificateAuthorityFingerprint))))
        }
    }

    @Test("Refused: an expired certificate, unless the box has no clock, and one that was issued for other names")
    func leaves() throws {
        let directory = TemporaryDirectory()
        let now = WallClock.milliseconds() / 1_000
        let authority = try HubAuthority(dataDirectory: directory.path, now: now)
        // Expired for a minute, and far in the future for a box with a clock at 1970.
        let expired = try authority.issue(names: ["cam.example"], now: now, lifetime: -60)
        let fresh = try authority.issue(names: ["cam.example"], now: now, lifetime: 86_400)
        let nameless = try authority.issue(names: [], now: now, lifetime: 86_400)
        let cases: [(X509Maker.Pair, String, Int64, String?)] = [
            (fresh, "cam.example", now, nil),
            (nameless, "other.example", now, nil),
            // The certificate names only hosts, no addresses.
            (fresh, "127.0.0.1", now, nil),
            (fresh, "other.example", now, "not valid for other.example"),
            (expired, "cam.example", now, "expired"),
            (expired, "cam.example", 86_400, nil),
            (expired, "other.example", 86_400, "not valid for other.example"),
        ]
        for (pair, host, clock, refusal) in cases {
            let outcome = try TLSProbe.connect(
                pair, authority: authority.certificate, host: host, clock: clock)
            if let refusal {
                #expect(outcome?.contains(refusal) == true, "\(host) at \(clock): \(outcome ?? "accepted")")
            } else {
                #expect(outcome == nil, "\(host) at \(clock)")
            }
        }
    }

    @Test("The certificate is replaced after two thirds of its lifetime while sessions stay online")
    func rotation() async throws {
        let directory = TemporaryDirectory()
        var tls = Self.tls(names: ["cam.example", "127.0.0.1"])
        tls.leafLifetime = 3
        tls.checkInterval = .milliseconds(100)
        try await withHub(in: directory, tls: tls) { hub in
            let (owner, token, _, _) = try await hub.ownerAndDevice()
            let (_, port, file) = try Self.parts(hub.tlsEndpoint)
            let endpoint = LinkEndpoint.tls(host: "127.0.0.1", port: port, certificateAuthorityFile: file)
            let broker = hub.brokerProcessIdentifier
            let configuration = LinkConfiguration(principal: owner, token: .value(token), endpoint: endpoint)
            try await withSession(configuration) { session in
                let first = try await TLSProbe.serverCertificate(port: port)
                var now = first
                let deadline = ContinuousClock.now + .seconds(20)
                while now == first, ContinuousClock.now < deadline {
                    _ = try await session.request("device.list")
                    now = try await TLSProbe.serverCertificate(port: port)
                }
                #expect(now != first)
                _ = try await session.request("device.list")
                #expect(session.counters.onlineCount == 1)
                #expect(hub.brokerProcessIdentifier == broker)
            }
            // A new session accepts the new certificate, because its authority is the same.
            try await withSession(configuration) { session in
                _ = try await session.request("device.list")
            }
        }
    }

    @Test("A configured certificate replaces our own; a pair that does not match is refused with its key")
    func given() async throws {
        let directory = TemporaryDirectory()
        let other = TemporaryDirectory()
        let now = WallClock.milliseconds() / 1_000
        let authority = try HubAuthority(dataDirectory: other.path, now: now)
        let pair = try authority.issue(names: ["127.0.0.1"], now: now, lifetime: 86_400)
        let stranger = try authority.issue(names: ["127.0.0.1"], now: now, lifetime: 86_400)
        try PrivateFile.write(pair.certificate, to: other.path + "/chain.pem")
        try PrivateFile.write(pair.key, to: other.path + "/key.pem")
        try PrivateFile.write(stranger.key, to: other.path + "/wrong.pem")
        // The mode for Debian's group ssl-cert.
        chmod(other.path + "/key.pem", 0o640)
        var tls = HubTLS(
            host: "127.0.0.1", port: 0, certificateFile: other.path + "/chain.pem", keyFile: other.path + "/key.pem")
        try await withHub(in: directory, tls: tls) { hub in
            #expect(hub.certificateAuthorityFingerprint == authority.certificate.fingerprint)
            let (owner, token, _, _) = try await hub.ownerAndDevice()
            let endpoint = try #require(hub.tlsEndpoint)
            let configuration = LinkConfiguration(principal: owner, token: .value(token), endpoint: endpoint)
            try await withSession(configuration) { session in
                _ = try await session.request("device.list")
            }
        }
        tls.keyFile = other.path + "/wrong.pem"
        let error = #expect(throws: IoTError.self) {
            try LinkHub(HubConfiguration(dataDirectory: directory.path, tls: tls), logger: quietLogger)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("hub.tls.keyFile") == true)
        tls.keyFile = other.path + "/key.pem"
        for mode in [0o660, 0o604] as [mode_t] {
            chmod(other.path + "/key.pem", mode)
            let open = #expect(throws: IoTError.self) {
                try LinkHub(HubConfiguration(dataDirectory: directory.path, tls: tls), logger: quietLogger)
            }
            #expect(open?.code == .invalidConfiguration && open?.remedy.contains("chmod 640") == true)
        }
    }

    @Test(
        "Names that could become OpenSSL's or the broker's configuration are refused",
        arguments: [
            "a,DNS:evil.example", "a b", "a\nlistener 1883", "", "-x", "*", "a..b",
        ])
    func names(_ name: String) {
        let byName = #expect(throws: IoTError.self) { try Self.tls(names: [name]).validate() }
        #expect(byName?.code == .invalidConfiguration)
        #expect(throws: IoTError.self) { try HubTLS(host: name, port: 1).validate() }
    }

    @Test("A box without a clock makes an authority and certificates that a correct clock accepts")
    func noClock() throws {
        let directory = TemporaryDirectory()
        let authority = try HubAuthority(dataDirectory: directory.path, now: 86_400)
        let pair = try authority.issue(names: ["cam.example"], now: 86_400, lifetime: 90 * 86_400)
        #expect(try X509Maker.notAfter(of: pair.certificate) == ClockSanity.earliestSeconds + 90 * 86_400)
        let outcome = try TLSProbe.connect(
            pair, authority: authority.certificate, host: "cam.example",
            clock: ClockSanity.earliestSeconds + 1)
        #expect(outcome == nil)
        // The same files are used again.
        let again = try HubAuthority(dataDirectory: directory.path, now: 86_400)
        #expect(again.certificate == authority.certificate)
        unlink(directory.path + "/keys/ca-key.pem")
        #expect(throws: IoTError.self) { try HubAuthority(dataDirectory: directory.path, now: 86_400) }
    }
}
