import Foundation
import IoTCore
import NIOCore
import SwiftProtobuf
import Testing

@testable import NetConfig

@Suite struct ProvisioningDeviceTests {
    /// A device, and what a client of security 1 or 2 would say to it.
    private struct Bench {
        var device: ProvisioningDevice
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        private var requests = 0
        /// The outputs of the last request.
        private(set) var last: [ProvisioningDevice.Output] = []

        init(_ credential: DeviceCredential = .possession("abcd1234")) {
            device = ProvisioningDevice(
                .init(credential: credential, identity: DeviceIdentity(id: "camera")), at: now,
                random: SystemRandom.bytes)
            _ = drain()
        }

        mutating func drain() -> [ProvisioningDevice.Output] {
            var outputs: [ProvisioningDevice.Output] = []
            while let output = device.poll() { outputs.append(output) }
            return outputs
        }

        @discardableResult
        mutating func send(
            _ endpoint: String, _ body: [UInt8], cookie: String? = nil, connection: Int = 1
        ) throws -> ProvisioningReply {
            requests += 1
            let caller = ProvisioningDevice.Caller(connection: connection, request: requests)
            device.handle(ProvisioningRequest(endpoint: endpoint, cookie: cookie, body: body), from: caller, at: now)
            last = drain()
            for case .reply(let reply, caller) in last { return reply }
            throw IoTError(.internalFailure, "no reply")
        }

        /// Sends the message in the session, and returns the tokens of the binding requests that the device then makes.
        mutating func say(
            _ endpoint: String, _ body: [UInt8], _ session: inout (cipher: SessionCipher, cookie: String)
        ) throws -> [String] {
            let reply = try send(endpoint, try session.cipher.sealed(body), cookie: session.cookie)
            try #require(reply.status == 200)
            try #require(session.cipher.open(reply.body) != nil)
            return Self.orders(last)
        }

        static func orders(_ outputs: [ProvisioningDevice.Output]) -> [String] {
            outputs.compactMap { if case .join(.bind(let order)) = $0 { order.token } else { nil } }
        }

        mutating func open(
            _ credential: ProvisioningCredential = .possession("abcd1234"), connection: Int = 1
        ) throws -> (cipher: SessionCipher, cookie: String) {
            var handshake = try ClientHandshake(credential, random: SystemRandom.bytes)
            let first = try send("prov-session", handshake.opening, connection: connection)
            let cookie = try #require(first.cookie)
            let second = try send(
                "prov-session", try handshake.prove(first.body), cookie: cookie, connection: connection)
            try #require(second.status == 200)
            return (try handshake.finish(second.body), cookie)
        }

        /// The status of a wrong proof's answer, or of the refusal to hear it.
        mutating func guess(connection: Int = 9) throws -> ProvisioningReply {
            var handshake = try ClientHandshake(.possession("wrong"), random: SystemRandom.bytes)
            let first = try send("prov-session", handshake.opening, connection: connection)
            guard first.status == 200 else { return first }
            return try send(
                "prov-session", try handshake.prove(first.body), cookie: first.cookie, connection: connection)
        }
    }

    private static let scanStatus: [UInt8] = {
        (try? ESPScanPayload.with { $0.kind = 2 }.serializedBytes()) ?? []
    }()

    private func config(_ change: (inout ESPConfigPayload) -> Void) throws -> [UInt8] {
        try ESPConfigPayload.with(change).serializedBytes()
    }

    @Test("After each wrong proof the device takes none for twice as long, up to 64 s, and says so")
    func growingDelay() throws {
        var bench = Bench()
        for expected in [1, 2, 4, 8, 16, 32, 64, 64] {
            let reply = try bench.guess()
            #expect(reply.status == 403)
            #expect(reply.retryAfter == expected)
            #expect(try bench.guess().status == 429)
            bench.now = bench.now + .seconds(Int64(expected)) - .milliseconds(1)
            #expect(try bench.guess().status == 429)
            bench.now = bench.now + .milliseconds(1)
        }
        _ = try bench.open()
        #expect(try bench.guess().retryAfter == 1)
        #expect(bench.device.takeEvents().filter { $0 == .wrongProof }.count == 9)
    }

    @Test("In a second attempt the device joins the newest network, and then contacts the hub with the newest order")
    func anotherTry() throws {
        let joined = WiFiOutcome.connected(WiFiConnection(ssid: Array("Home".utf8)))
        let set = try config { config in
            config.kind = 2
            config.set = .with {
                $0.ssid = Data("Home".utf8)
                $0.password = Data("correct horse".utf8)
            }
        }
        let apply = try config { config in
            config.kind = 4
            config.apply = .init()
        }
        func order(_ token: String) throws -> [UInt8] {
            try IoTBindRequest.with {
                $0.hub = "iotlink://192.0.2.2:8883"
                $0.token = token
            }.serializedBytes()
        }
        var bench = Bench()
        var session = try bench.open()
        #expect(try bench.say("prov-config", set, &session).isEmpty)
        #expect(try bench.say("iotlink-bind", order("first"), &session).isEmpty)
        #expect(try bench.say("prov-config", apply, &session).isEmpty)
        bench.device.joining.applied(joined, at: bench.now)
        #expect(Bench.orders(bench.drain()) == ["first"])
        bench.device.bound(.failure(IoTError(.provisioningTokenExpired)), at: bench.now)

        #expect(try bench.say("prov-config", set, &session).isEmpty)
        #expect(try bench.say("iotlink-bind", order("second"), &session).isEmpty)
        // That client disappears; another one connects.
        session = try bench.open(connection: 2)
        #expect(try bench.say("prov-config", set, &session).isEmpty)
        #expect(try bench.say("iotlink-bind", order("third"), &session).isEmpty)
        #expect(try bench.say("prov-config", apply, &session).isEmpty)
        bench.device.joining.applied(joined, at: bench.now)
        #expect(Bench.orders(bench.drain()) == ["third"])
    }

    @Test("Sessions that are begun without end are refused for a while, because each costs the device")
    func openings() throws {
        var bench = Bench()
        let opening = try ClientHandshake(.possession("x"), random: SystemRandom.bytes).opening
        let statuses = try (0..<12).map { try bench.send("prov-session", opening, connection: $0).status }
        #expect(statuses == Array(repeating: 200, count: 8) + Array(repeating: 429, count: 4))
        bench.now = bench.now + .seconds(10)
        #expect(try bench.send("prov-session", opening).status == 200)
    }

    @Test("One session at a time: an open one stays until another client has shown its proof")
    func oneSession() throws {
        var bench = Bench()
        var first = try bench.open(connection: 1)
        #expect(try bench.guess(connection: 2).status == 403)
        bench.now = bench.now + .seconds(2)
        let sealed = try first.cipher.sealed(Self.scanStatus)
        let reply = try bench.send("prov-scan", sealed, cookie: first.cookie)
        #expect(reply.status == 200)
        #expect(first.cipher.open(reply.body) != nil)
        var second = try bench.open(connection: 3)
        let late = try first.cipher.sealed(Self.scanStatus)
        #expect(try bench.send("prov-scan", late, cookie: first.cookie).status == 401)
        let next = try second.cipher.sealed(Self.scanStatus)
        #expect(try bench.send("prov-scan", next, cookie: second.cookie, connection: 3).status == 200)
    }

    @Test("A client without cookies is known by its connection, and one with a wrong cookie not at all")
    func cookies() throws {
        var bench = Bench()
        var session = try bench.open(connection: 5)
        let sealed = try session.cipher.sealed(Self.scanStatus)
        #expect(try bench.send("prov-scan", sealed, cookie: "session=1", connection: 5).status == 401)
        #expect(try bench.send("prov-scan", sealed, connection: 6).status == 401)
        #expect(try bench.send("prov-scan", sealed, connection: 5).status == 200)
    }

    @Test("What is too long, empty, unknown or malformed gets its own status and changes nothing")
    func malformed() throws {
        var bench = Bench()
        #expect(try bench.send("nowhere", [1]).status == 404)
        #expect(try bench.send("prov-session", []).status == 400)
        #expect(try bench.send("prov-session", [0xFF, 0xFF]).status == 400)
        #expect(try bench.send("prov-session", [UInt8](repeating: 0, count: 4097)).status == 413)
        #expect(try bench.send("prov-config", [1, 2, 3]).status == 401)
        // Security 0, and security 2 of a device that has a proof of possession.
        for security in [0, 2] {
            var message = ESPSessionData()
            message.security = .init(rawValue: security) ?? .none
            if security == 0 { message.none.command = .init() } else { message.srp6A.command0.user = Data([0x61]) }
            #expect(try bench.send("prov-session", message.serializedBytes()).status == 400)
        }
        // A proof before there was a session.
        var proof = ESPSessionData()
        proof.security = .x25519
        proof.x25519.kind = 2
        proof.x25519.command1.clientProof = Data(count: 32)
        #expect(try bench.send("prov-session", proof.serializedBytes()).status == 409)
        _ = try bench.open()
    }

    @Test("A replayed or changed message ends the session and does nothing", arguments: [1, 2])
    func replay(security: Int) throws {
        let verifier = try SRPVerifier(user: "u", password: "abcd1234", salt: [1])
        var bench = Bench(security == 1 ? .possession("abcd1234") : .verifier(verifier))
        let credential =
            security == 1 ? ProvisioningCredential.possession("abcd1234") : .password(user: "u", password: "abcd1234")
        var session = try bench.open(credential)
        let set = try config {
            $0.kind = 2
            $0.set.ssid = Data("Home".utf8)
            $0.set.password = Data("correct horse".utf8)
        }
        let sealed = try session.cipher.sealed(set)
        let reply = try bench.send("prov-config", sealed, cookie: session.cookie)
        #expect(session.cipher.open(reply.body) != nil)
        #expect(bench.device.credentials?.ssid == "Home")
        #expect(try bench.send("prov-config", sealed, cookie: session.cookie).status == 400)
        let apply = try session.cipher.sealed(try config { $0.kind = 4 })
        #expect(try bench.send("prov-config", apply, cookie: session.cookie).status == 401)
        if case .idle = bench.device.joining.station {} else { Issue.record("it joined a network") }
    }

    @Test("A name or password that no network has is refused, and the session goes on")
    func invalidConfiguration() throws {
        var bench = Bench()
        var session = try bench.open()
        let wrong: [(ssid: [UInt8], password: [UInt8])] = [
            ([], Array("12345678".utf8)), ([UInt8](repeating: 0x61, count: 33), []), ([0xFF, 0xFE], []),
            (Array("Home".utf8), Array("short".utf8)), (Array("Home".utf8), [UInt8](repeating: 0x61, count: 65)),
            (Array("Home".utf8), Array("12345678\n".utf8)),
        ]
        for (ssid, password) in wrong {
            let set = try config {
                $0.kind = 2
                $0.set.ssid = Data(ssid)
                $0.set.password = Data(password)
            }
            let sealed = try session.cipher.sealed(set)
            let reply = try bench.send("prov-config", sealed, cookie: session.cookie)
            let plain = try session.cipher.opened(reply.body)
            #expect(try ESPConfigPayload(serializedBytes: plain).setReply.status == .invalidArgument)
        }
        let apply = try session.cipher.sealed(try config { $0.kind = 4 })
        let plain = try session.cipher.opened(try bench.send("prov-config", apply, cookie: session.cookie).body)
        #expect(try ESPConfigPayload(serializedBytes: plain).applyReply.status == .invalidArgument)
    }

    @Test("A scan that is waited for is answered when it ends; meanwhile nothing else is")
    func blockingScan() throws {
        var bench = Bench()
        var session = try bench.open()
        let start = try ESPScanPayload.with { $0.start.blocking = true }.serializedBytes() as [UInt8]
        let sealed = try session.cipher.sealed(start)
        let caller = ProvisioningDevice.Caller(connection: 1, request: 100)
        bench.device.handle(
            ProvisioningRequest(endpoint: "prov-scan", cookie: session.cookie, body: sealed), from: caller,
            at: bench.now)
        let outputs = bench.drain()
        #expect(outputs.count == 1)
        if case .scan? = outputs.first {} else { Issue.record("no scan began") }
        #expect(try bench.send("prov-scan", [1], cookie: session.cookie).status == 409)
        bench.device.scanned([], at: bench.now)
        guard case .reply(let reply, caller)? = bench.drain().first else { throw IoTError(.internalFailure) }
        #expect(session.cipher.open(reply.body) != nil)
    }

    @Test("The mode ends after its time, and then nobody is served")
    func lifetime() throws {
        var bench = Bench()
        bench.now = bench.now + .minutes(10) - .milliseconds(1)
        bench.device.timeout(at: bench.now)
        #expect(try bench.send("proto-ver", [1]).status == 200)
        bench.now = bench.now + .milliseconds(1)
        bench.device.timeout(at: bench.now)
        guard case .join(.end(.timedOut))? = bench.drain().first else { throw IoTError(.internalFailure) }
        #expect(try bench.send("proto-ver", [1]).status == 410)
        #expect(try bench.send("prov-session", [1]).status == 410)
    }

    @Test("No description of what holds a secret holds the secret")
    func descriptions() throws {
        let verifier = try SRPVerifier(user: "u", password: "geheimnis-17")
        let values: [Any] = [
            try WiFiCredentials(ssid: "Home", password: "geheimnis-17"),
            ProvisioningCredential.possession("geheimnis-17"),
            ProvisioningCredential.password(user: "u", password: "geheimnis-17"),
            DeviceCredential.possession("geheimnis-17"), DeviceCredential.verifier(verifier),
            try BindOrder(hub: "iotlink://h:1", token: "geheimnis-17"),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), String(describing: Optional(value)), dumped] {
                #expect(!text.contains("geheimnis"), "\(type(of: value))")
            }
        }
    }
}
