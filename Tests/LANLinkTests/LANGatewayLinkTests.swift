import Foundation
import IoTCore
import IoTLink
import LANLink
import Logging
import NIOPosix
import Testing
import ThingModel

@testable import Gateway

/// Whom a gateway asks: its hub, or the device on its network.
@Suite(.timeLimit(.minutes(1))) struct LANGatewayLinkTests {
    private static let hubsAnswer: JSONValue = ["by": "hub"]
    private static let order: JSONValue = ["device": "door", "path": "Action.ring", "value": 1]

    private let site: LANSite
    private let hub = ScriptedGatewayHub()
    private let folder = FileManager.default.temporaryDirectory.path + "/lan-gateway-\(UUID().uuidString)"

    init() throws {
        site = try LANSite()
        site.link.trust(site.trust())
        site.link.handle("action.take") { _ throws(IoTError) in ["by": "device"] }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Runs a gateway that has a grant for the device `door` at `port`.
    private func run(_ port: Int, grant: String, _ body: (LANGatewayLink) async throws -> Void) async throws {
        let account = try #require(AccessID(rawValue: "ann"))
        let keys = DeviceKeyStore(path: nil)
        let entry = KnownDevices.Entry(fingerprint: site.deviceKey.publicKey.fingerprint, source: .hub, since: 0)
        _ = try await keys.keep(entry, at: KnownDevices.Place(account: account, device: site.device))
        let book = LANBook([
            LANBook.Entry(
                device: site.device, name: "door", role: .guest, actions: .all,
                place: LANPlace(port: port, addresses: ["127.0.0.1"]), grant: grant, expires: 2_000_000)
        ])
        let file = folder + "/grants.json"
        try PrivateFile.write(book.json.jsonText, to: file)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let link = LANGatewayLink(
            hub: hub, account: account, keys: keys, key: site.gatewayKey, file: file,
            loops: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await link.run() }
            defer { group.cancelAll() }
            try await body(link)
        }
    }

    private func take(_ link: LANGatewayLink, _ method: String = "action.take") async -> Result<JSONValue, IoTError> {
        do throws(IoTError) {
            return .success(try await link.request(method, Self.order, timeout: .seconds(20), id: nil))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ result: Result<JSONValue, IoTError>) -> ErrorCode? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test("Without its hub it asks the device; while its link only reconnects, it waits for the hub")
    func absence() async throws {
        let grant = try site.grant()
        try await site.serve { [self] port in
            try await run(port, grant: grant) { (link: LANGatewayLink) async throws in
                #expect(try await take(link).get() == ["by": "device"])
                #expect(hub.asked.isEmpty)
                hub.become(.online) { _ in .success(Self.hubsAnswer) }
                #expect(try await take(link).get() == Self.hubsAnswer)
                hub.become(.offline) { _ in .failure(IoTError(.messageTimeout)) }
                let followers = hub.readers
                async let answer = take(link)
                while hub.readers == followers { await Task.yield() }
                hub.become(.online) { _ in .success(Self.hubsAnswer) }
                #expect(try await answer.get() == Self.hubsAnswer)
            }
        }
    }

    @Test("A device that is offline at the hub is asked, unless the hub had passed the request on to it")
    func offlineAtTheHub() async throws {
        let grant = try site.grant()
        try await site.serve { [self] port in
            try await run(port, grant: grant) { (link: LANGatewayLink) async throws in
                hub.become(.online) { _ in .failure(IoTError(.deviceOffline)) }
                #expect(try await take(link).get() == ["by": "device"])
                let passedOn = IoTError(.deviceOffline, underlying: LinkRefusal.afterDelivery)
                hub.become(.online) { _ in .failure(passedOn) }
                #expect(code(await take(link)) == .deviceOffline)
            }
        }
    }

    @Test("What the device refuses because of the network is asked of a hub that is back; nothing else is asked twice")
    func refusals() async throws {
        let grant = try site.grant(actions: .view)
        let hub = hub
        site.link.handle("property.read") { _ throws(IoTError) in
            // The hub comes back in the meantime.
            hub.become(.online) { _ in .success(Self.hubsAnswer) }
            throw IoTError(.lanNotAllowed)
        }
        try await site.serve { [self] port in
            try await run(port, grant: grant) { (link: LANGatewayLink) async throws in
                #expect(try await take(link, "property.read").get() == Self.hubsAnswer)
                hub.become(.online) { _ in .failure(IoTError(.deviceOffline)) }
                #expect(code(await take(link)) == .relationInvalid, "the device's own refusal")
            }
        }
    }

    @Test("A device that does not answer is not tried again at once")
    func failures() async throws {
        let grant = try site.grant(exp: 1)
        try await site.serve { [self] port in
            try await run(port, grant: grant) { (link: LANGatewayLink) async throws in
                #expect(code(await take(link)) == .callTokenInvalid)
                let start = ContinuousClock.now
                #expect(code(await take(link)) == .callTokenInvalid)
                #expect(ContinuousClock.now - start < .seconds(3))
                #expect(hub.asked.isEmpty)
            }
        }
    }

    @Test("The calls over a connection end with it")
    func calls() async throws {
        let ended = Readiness<JSONValue>()
        let grant = try site.grant()
        site.link.handle("call.connect") { _ throws(IoTError) in .null }
        site.link.handle("call.end") { _ throws(IoTError) in .null }
        try await site.serve { [self] port in
            try await run(port, grant: grant) { (link: LANGatewayLink) async throws in
                link.handle("call.end") { request throws(IoTError) in
                    ended.settle(.success(request.params))
                    return .null
                }
                let call: JSONValue = ["device": "door", "session": "s", "token": "lan"]
                _ = try await link.request("call.connect", call, timeout: .seconds(20), id: nil)
                site.link.withdraw(RightsWithdrawn(until: 999_500, user: Principal("u/ann")!))
                let params = try await ended.wait()
                #expect(params["session"] == "s" && params["peer"] == .string("d/\(site.device.rawValue)"))
            }
        }
    }
}
