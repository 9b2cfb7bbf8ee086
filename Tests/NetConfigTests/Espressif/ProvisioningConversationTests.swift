import IoTCore
import NIOCore
import Testing

@testable import NetConfig

@Suite struct ProvisioningConversationTests {
    private static let bind = try? BindOrder(hub: "iotlink://192.0.2.2:8883", token: "token-7f3a")
    private static let home = try? WiFiCredentials(ssid: "Home", password: "correct horse")

    private func plan(_ security: Int, proof: String = "abcd1234", binds: Bool = true) -> ProvisioningPlan {
        ProvisioningPlan(
            credential: security == 1 ? .possession(proof) : .password(user: "camera", password: proof),
            network: Self.home, bind: binds ? Self.bind : nil)
    }

    private func credential(_ security: Int) throws -> DeviceCredential {
        security == 1
            ? .possession("abcd1234")
            : .verifier(try SRPVerifier(user: "camera", password: "abcd1234", salt: [1, 2, 3, 4]))
    }

    private func code(_ result: Result<ProvisioningOutcome, IoTError>?) -> ErrorCode? {
        if case .failure(let error)? = result { error.code } else { nil }
    }

    @Test("A device is found, scanned, given its network and hub, joins and is bound", arguments: [1, 2])
    func everything(security: Int) throws {
        var world = ProvisioningWorld(plan(security), credential: try credential(security))
        let outcome = try world.run().get()
        #expect(outcome.networks.count == 20)
        #expect(outcome.networks.first?.name == "Net 0")
        #expect(outcome.connection?.address == "192.0.2.9")
        #expect(outcome.device == DeviceIdentity(id: "camera", keyFingerprint: [1, 2, 3]))
        #expect(outcome.bind == .bound)
        #expect(world.given == [try #require(Self.home)])
        #expect(world.orders == [try #require(Self.bind)])
        #expect(world.end == .bound)
        #expect(world.statuses.allSatisfy { $0 == 200 })
        #expect(world.progress.first == .found(version: "netprov-v1.2", security: security))
        #expect(world.progress.contains(.configured))
    }

    @Test("Nothing that went over the air holds the password, the token or the proof", arguments: [1, 2])
    func secrecy(security: Int) throws {
        var world = ProvisioningWorld(plan(security), credential: try credential(security))
        _ = try world.run().get()
        for secret in ["correct horse", "token-7f3a", "abcd1234"] {
            #expect(world.air.allSatisfy { !contains($0, Array(secret.utf8)) })
        }
        #expect(world.air.contains { contains($0, Array("netprov".utf8)) })
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }

    @Test("Loss, replays and changed bytes delay it and change nothing else", arguments: 0..<40 as Range<UInt64>)
    func badNetwork(seed: UInt64) throws {
        let security = seed % 2 == 0 ? 1 : 2
        var plan = plan(security)
        plan.patience = .seconds(600)
        var world = ProvisioningWorld(
            plan, credential: try credential(security),
            network: .init(lostRequests: 8, lostReplies: 8, replays: 15, changes: security == 2 ? 4 : 0), seed: seed)
        let result = try world.run()
        switch result {
        case .success(let outcome):
            #expect(outcome.connection != nil)
            #expect(outcome.bind == .bound)
        case .failure(let error):
            // A changed proof is a wrong proof, and a changed message of the handshake is refused.
            #expect(
                [.provisioningVanished, .provisioningProofWrong, .provisioningRefused].contains(error.code), "\(error)")
        }
        #expect(Set(world.given).isSubset(of: [try #require(Self.home)]))
        #expect(Set(world.orders).isSubset(of: [try #require(Self.bind)]))
    }

    @Test("With loss alone, every run succeeds", arguments: 0..<30 as Range<UInt64>)
    func loss(seed: UInt64) throws {
        let security = seed % 2 == 0 ? 1 : 2
        var plan = plan(security)
        plan.patience = .seconds(600)
        var world = ProvisioningWorld(
            plan, credential: try credential(security), network: .init(lostRequests: 7, lostReplies: 7), seed: seed)
        // Lost twice in a row at the proof looks like a refusal.
        let result = try world.run()
        if code(result) != .provisioningProofWrong { #expect(try result.get().bind == .bound) }
    }

    @Test("A wrong proof is refused on both sides' evidence, and the device joins nothing", arguments: [1, 2])
    func wrongProof(security: Int) throws {
        var world = ProvisioningWorld(plan(security, proof: "wrong"), credential: try credential(security))
        #expect(code(try world.run()) == .provisioningProofWrong)
        #expect(world.given.isEmpty && world.orders.isEmpty)
        #expect(world.statuses == [200, 200, 403])
        #expect(world.end == .timedOut)
    }

    @Test(
        "What became of joining is reported by its number",
        arguments: [
            (WiFiOutcome.wrongPassword, ErrorCode.wifiPasswordWrong), (.networkNotFound, .wifiNetworkNotFound),
            (.failed("driver"), .wifiFailed),
        ])
    func joining(outcome: WiFiOutcome, expected: ErrorCode) throws {
        var world = ProvisioningWorld(plan(2), credential: try credential(2), outcome: outcome)
        #expect(code(try world.run()) == expected)
        #expect(world.orders.isEmpty)
        #expect(world.end == .timedOut)
    }

    @Test("What the hub said comes to the person by its number and words")
    func hubRefuses() throws {
        var world = ProvisioningWorld(
            plan(2), credential: try credential(2),
            binding: .failure(IoTError(.boundToOther, "the camera belongs to somebody else")))
        let result = try world.run()
        #expect(code(result) == .boundToOther)
        if case .failure(let error) = result { #expect(error.message == "the camera belongs to somebody else") }
        #expect(world.end == .timedOut)
    }

    @Test("A device that vanishes half-way ends it with a number, soon", arguments: [1, 3, 4, 6])
    func vanishes(seconds: Int64) throws {
        var world = ProvisioningWorld(
            plan(2), credential: try credential(2), network: .init(vanishesAt: .seconds(seconds)))
        #expect(code(try world.run()) == .provisioningVanished)
        #expect(world.progress.contains { if case .retrying = $0 { true } else { false } })
    }

    @Test("A device that closes its access point once it joined and said so has succeeded")
    func closes() throws {
        var world = ProvisioningWorld(
            plan(2), credential: try credential(2), network: .init(closesAfterJoining: .milliseconds(900)))
        let outcome = try world.run().get()
        #expect(outcome.connection != nil)
        #expect(outcome.bind == .waiting)
    }

    @Test("Nobody there is another number than a device that vanished")
    func unreachable() throws {
        var world = ProvisioningWorld(plan(2), credential: try credential(2), network: .init(vanishesAt: .zero))
        #expect(code(try world.run()) == .provisioningUnreachable)
    }

    @Test("The security of the secret must be the device's: nothing is sent in a weaker one", arguments: [1, 2])
    func otherSecurity(security: Int) throws {
        var world = ProvisioningWorld(plan(3 - security), credential: try credential(security))
        #expect(code(try world.run()) == .provisioningSecurity)
        #expect(world.statuses == [200])
    }

    @Test("A hub is not promised to a device that takes none")
    func noBind() throws {
        var world = ProvisioningWorld(plan(2), credential: try credential(2), binds: false)
        #expect(code(try world.run()) == .provisioningRefused)
        #expect(world.given.isEmpty)
    }

    @Test("Without a hub the mode ends when the network is joined and that was told")
    func networkAlone() throws {
        var world = ProvisioningWorld(plan(2, binds: false), credential: try credential(2))
        let outcome = try world.run().get()
        #expect(outcome.bind == .unbound)
        #expect(world.end == .connected)
        #expect(world.elapsed < .seconds(30))
    }

    @Test("A device that is connected by cable gets only a hub, and reports its new id")
    func wired() throws {
        var plan = plan(2)
        plan.network = nil
        plan.scans = false
        var world = ProvisioningWorld(
            plan, credential: try credential(2), binding: .success("0123"), isWired: true)
        let outcome = try world.run().get()
        #expect(outcome.bind == .bound)
        #expect(outcome.device?.id == "0123")
        #expect(world.given.isEmpty)
        #expect(world.orders.count == 1)
        #expect(world.end == .bound)
    }

    @Test("A scan alone changes nothing, however many networks there are", arguments: [0, 1, 8, 9, 64, 90])
    func scanOnly(count: Int) throws {
        var plan = plan(2)
        plan.network = nil
        plan.bind = nil
        var world = ProvisioningWorld(plan, credential: try credential(2), networks: count)
        #expect(try world.run().get().networks.count == min(count, 64))
        #expect(world.given.isEmpty)
    }
}
