import Foundation
import GatewayAPI
import IoTCore
import IoTLink
import Synchronization
import Testing

@testable import Gateway

/// The stored keys of an account's devices, and LAN access passwords, with a scripted hub.
@Suite final class DeviceKeyTests: Sendable {
    private static let front = "00112233445566778899aabbccddeeff"
    private static let first = DeviceKey().publicKey
    private static let second = DeviceKey().publicKey

    /// The key that the hub reports.
    private let reported = Mutex<DevicePublicKey?>(DeviceKeyTests.first)
    /// The earlier keys that the hub reports.
    private let succession = Mutex(KeySuccession())

    private func link() -> ScriptedLink {
        ScriptedLink { [self] request throws(IoTError) in
            let summary: [String: JSONValue] = [
                "id": .string(Self.front), "name": "front", "role": "guest", "online": true, "actions": ["view"],
            ]
            switch request.method {
            case "device.list": return ["devices": [.object(summary)], "more": false]
            case "device.show":
                let key = reported.withLock { $0?.text ?? "" }
                var details = summary
                let succession = succession.withLock { $0.text }
                details["model"] = [
                    "ProConst": ["signingKey": .string(key), "signingKeySuccession": .string(succession)]
                ]
                details["version"] = 1
                return .object(details)
            case "device.bind":
                return [
                    "device": .string(Self.front), "user": request.params["user"] ?? .null, "role": "guest",
                    "actions": ["view"],
                ]
            case "device.remove": return ["device": .string(Self.front)]
            default: return [:]
            }
        }
    }

    private func learn(
        _ gateway: LocalGateway, _ fingerprint: KeyFingerprint, _ source: KeySource, as account: String = "guest"
    ) async throws -> DeviceKeyDescription {
        try await gateway.session(of: account).devices.learnKey(
            of: "front", DeviceKeyRequest(fingerprint: fingerprint, source: source))
    }

    private func show(_ gateway: LocalGateway, as account: String = "guest") async throws -> DeviceKeyDescription? {
        try await gateway.session(of: account).devices.show("front").key
    }

    @Test("The first key that the hub reports is stored; another key later is an error, and the first one stays")
    func hub() async throws {
        try await withGateway(link()) { gateway in
            let kept = try await show(gateway)
            #expect(kept?.fingerprint == Self.first.fingerprint && kept?.source == .hub && kept?.since != nil)
            reported.withLock { $0 = Self.second }
            for _ in 0..<2 {
                let now = try await show(gateway)
                #expect(now?.failure?.code == 25080 && now?.fingerprint == Self.first.fingerprint)
                #expect(now?.failure?.message.contains("\(Self.second.fingerprint)") == true)
            }
            // If the hub stops reporting a key, nothing changes.
            reported.withLock { $0 = nil }
            #expect(try await show(gateway)?.fingerprint == Self.first.fingerprint)
            reported.withLock { $0 = Self.first }
            #expect(try await show(gateway)?.failure == nil)
        }
    }

    @Test("For the same key, a stronger source replaces a weaker one, but never the reverse")
    func sources() async throws {
        try await withGateway(link()) { gateway in
            _ = try await show(gateway)
            #expect(try await learn(gateway, Self.first.fingerprint, .lan).source == .lan)
            #expect(try await learn(gateway, Self.first.fingerprint, .ap).source == .ap)
            #expect(try await learn(gateway, Self.first.fingerprint, .lan).source == .ap)
            #expect(try await show(gateway)?.source == .ap)
        }
    }

    @Test("A learned fingerprint is stored although the hub reports another key, and each later look is an error")
    func contradiction() async throws {
        try await withGateway(link()) { gateway in
            let error = await #expect(throws: IoTError.self) {
                try await learn(gateway, Self.second.fingerprint, .ap)
            }
            #expect(error?.code == .deviceKeyChanged)
            for _ in 0..<2 {
                let shown = try await show(gateway)
                #expect(shown?.failure?.code == 25080)
                #expect(shown?.fingerprint == Self.second.fingerprint && shown?.source == .ap)
            }
            try await gateway.session(of: "guest").devices.forgetKey(of: "front")
            #expect(try await show(gateway)?.source == .hub)
            #expect(try await show(gateway)?.failure == nil)
        }
    }

    @Test(
        "A learned fingerprint that contradicts the hub replaces only one with a weaker source, and stays an error",
        arguments: [(KeySource.hub, KeySource.lan), (.hub, .ap), (.lan, .ap), (.lan, .lan), (.ap, .ap), (.ap, .lan)])
    func replacement(old: KeySource, new: KeySource) async throws {
        try await withGateway(link()) { gateway in
            try await store(gateway, old)
            let error = await #expect(throws: IoTError.self) {
                try await learn(gateway, Self.second.fingerprint, new)
            }
            #expect(error?.code == .deviceKeyChanged)
            for _ in 0..<2 {
                let shown = try await show(gateway)
                if old < new {
                    #expect(shown?.fingerprint == Self.second.fingerprint && shown?.source == new)
                    #expect(shown?.failure?.code == 25080)
                } else {
                    #expect(shown?.fingerprint == Self.first.fingerprint && shown?.source == old)
                    #expect(shown?.failure == nil)
                }
            }
        }
    }

    @Test(
        "A learned fingerprint that the hub confirms does not replace the stored one", arguments: [KeySource.hub, .lan])
    func confirmedReplacement(old: KeySource) async throws {
        try await withGateway(link()) { gateway in
            try await store(gateway, old)
            reported.withLock { $0 = Self.second }
            let error = await #expect(throws: IoTError.self) {
                try await learn(gateway, Self.second.fingerprint, .ap)
            }
            #expect(error?.code == .deviceKeyChanged)
            for _ in 0..<2 {
                let shown = try await show(gateway)
                #expect(shown?.failure?.code == 25080 && shown?.fingerprint == Self.first.fingerprint)
            }
        }
    }

    @Test("While the hub reports no key, a learned fingerprint that replaces another one is an error")
    func unreportedReplacement() async throws {
        try await withGateway(link()) { gateway in
            try await store(gateway, .hub)
            reported.withLock { $0 = nil }
            let error = await #expect(throws: IoTError.self) {
                try await learn(gateway, Self.second.fingerprint, .ap)
            }
            #expect(error?.code == .deviceKeyChanged)
            reported.withLock { $0 = Self.first }
            #expect(try await show(gateway)?.failure?.code == 25080)
        }
    }

    @Test("A reported key that the stored one has signed replaces it; a forged one is an error")
    func replacedKey() async throws {
        let (old, new, thief) = (DeviceKey(), DeviceKey(), DeviceKey())
        try await withGateway(link()) { gateway in
            reported.withLock { $0 = old.publicKey }
            #expect(try await learn(gateway, old.publicKey.fingerprint, .ap).source == .ap)
            reported.withLock { $0 = thief.publicKey }
            let forged = try KeySuccession().appending(thief, signing: thief.publicKey)
            let foreign = try KeySuccession().appending(old, signing: new.publicKey)
            for wrong in [KeySuccession(), forged, foreign] {
                succession.withLock { $0 = wrong }
                #expect(try await show(gateway)?.failure?.code == 25080)
            }
            reported.withLock { $0 = new.publicKey }
            let shown = try #require(try await show(gateway))
            #expect(shown.fingerprint == new.publicKey.fingerprint && shown.previous == old.publicKey.fingerprint)
            #expect(shown.source == .ap && shown.failure == nil)
            // A fingerprint that was learned before the replacement is one of the same device.
            let again = try await learn(gateway, old.publicKey.fingerprint, .ap)
            #expect(again.fingerprint == new.publicKey.fingerprint)
            #expect(
                try await learn(gateway, old.publicKey.fingerprint, .lan, as: "other").fingerprint
                    == new.publicKey.fingerprint)
            // The old key is not accepted again.
            reported.withLock { $0 = old.publicKey }
            #expect(try await show(gateway)?.failure?.code == 25080)
        }
    }

    /// Stores the key that the hub reports, learned in this way.
    private func store(_ gateway: LocalGateway, _ source: KeySource) async throws {
        if source == .hub {
            _ = try await show(gateway)
        } else {
            _ = try await learn(gateway, Self.first.fingerprint, source)
        }
    }

    @Test("A device is bound, and its key stored, unless its key has changed")
    func bind() async throws {
        let link = link()
        try await withGateway(link) { gateway in
            let guest = AccessID(rawValue: "guest")!
            _ = try await gateway.session(of: "guest").bindings.bind(
                "front", guest, BindingRequest(), requestID: nil)
            let place = KnownDevices.Place(account: guest, device: DeviceID(rawValue: Self.front)!)
            #expect(try await gateway.deviceKeys.entry(place)?.fingerprint == Self.first.fingerprint)
            reported.withLock { $0 = Self.second }
            let before = link.requests.count { $0.method == "device.bind" }
            let error = await #expect(throws: IoTError.self) {
                try await gateway.session(of: "guest").bindings.bind(
                    "front", guest, BindingRequest(), requestID: nil)
            }
            #expect(error?.code == .deviceKeyChanged)
            #expect(link.requests.count { $0.method == "device.bind" } == before)
            // Another account has no stored key yet.
            _ = try await gateway.session(of: "other").bindings.bind(
                "front", AccessID(rawValue: "other")!, BindingRequest(), requestID: nil)
        }
    }

    @Test("Each account has its own fingerprints; removing the device removes them for all accounts")
    func accounts() async throws {
        try await withGateway(link()) { gateway in
            #expect(try await learn(gateway, Self.first.fingerprint, .ap).source == .ap)
            #expect(try await show(gateway, as: "other")?.source == .hub)
            #expect(try await show(gateway)?.source == .ap)
            // The account that removes it has no binding with it.
            try await gateway.session(of: "administrator").devices.remove("front", requestID: nil)
            reported.withLock { $0 = Self.second }
            #expect(try await show(gateway)?.fingerprint == Self.second.fingerprint)
        }
    }

    @Test("Removing an account removes its fingerprints; an id is enough to remove one without the hub")
    func removal() async throws {
        try await withGateway(link()) { gateway in
            let place = { (account: String) in
                KnownDevices.Place(account: AccessID(rawValue: account)!, device: DeviceID(rawValue: Self.front)!)
            }
            for account in ["guest", "other"] { _ = try await show(gateway, as: account) }
            try await gateway.session(of: "owner").users.remove(AccessID(rawValue: "guest")!, requestID: nil)
            #expect(try await gateway.deviceKeys.entry(place("guest")) == nil)
            #expect(try await gateway.deviceKeys.entry(place("other")) != nil)
        }
        let silent = ScriptedLink { _ throws(IoTError) in throw IoTError(.linkUnavailable) }
        try await withGateway(silent) { gateway in
            let place = KnownDevices.Place(
                account: AccessID(rawValue: "guest")!, device: DeviceID(rawValue: Self.front)!)
            _ = try await gateway.deviceKeys.keep(entry(1), at: place)
            try await gateway.session(of: "guest").devices.forgetKey(of: Self.front)
            #expect(try await gateway.deviceKeys.entry(place) == nil)
        }
    }

    // MARK: The file

    private func entry(_ number: UInt8, _ source: KeySource = .hub) -> KnownDevices.Entry {
        KnownDevices.Entry(
            fingerprint: KeyFingerprint(bytes: [UInt8](repeating: number, count: 32))!, source: source, since: 7)
    }

    private func place(_ number: Int, _ account: String = "bob") -> KnownDevices.Place {
        let digits = String(number, radix: 16)
        return KnownDevices.Place(
            account: AccessID(rawValue: account)!,
            device: DeviceID(rawValue: String(repeating: "0", count: 32 - digits.count) + digits)!)
    }

    @Test("The file is private and persistent, and an error names the number of a damaged line")
    func file() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = DeviceKeyStore(path: path)
        _ = try await store.keep(entry(1, .ap), at: place(1))
        _ = try await store.keep(entry(2), at: place(2))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let again = DeviceKeyStore(path: path)
        #expect(try await again.entry(place(1)) == entry(1, .ap))
        let error = await #expect(throws: IoTError.self) { try await again.keep(entry(3), at: place(1)) }
        #expect(error?.code == .deviceKeyChanged)
        #expect(try await DeviceKeyStore(path: path).entry(place(1)) == entry(1, .ap))
        try await again.forget(place(1))
        #expect(try await DeviceKeyStore(path: path).entry(place(1)) == nil)
        #expect(try await DeviceKeyStore(path: path).entry(place(2)) == entry(2))

        let stored = DeviceKeyStore(path: path)
        let replaced = try await stored.replace(entry(2), by: entry(4).fingerprint, at: place(2))
        #expect(replaced.fingerprint == entry(4).fingerprint && replaced.previous == entry(2).fingerprint)
        #expect(try await DeviceKeyStore(path: path).entry(place(2)) == replaced)
        // Only from the key that is stored.
        #expect(try await stored.replace(entry(2), by: entry(5).fingerprint, at: place(2)) == replaced)

        for line in ["bob", "bob 0 hub SHA256:x 7", "bob \(place(1).device.rawValue) friend \(entry(1).fingerprint) 7"]
        {
            let damaged = #expect(throws: IoTError.self) { try KnownDevices(parsing: "#\n\(line)\n", name: "known") }
            #expect(damaged?.message == "known line 2 is damaged")
        }
    }

    @Test("An account with too many fingerprints gets no more and loses none; another account still can store some")
    func quota() throws {
        var known = KnownDevices()
        for number in 0..<KnownDevices.maximumOfAccount { try known.keep(entry(1), at: place(number)) }
        let error = #expect(throws: IoTError.self) {
            try known.keep(entry(1), at: place(KnownDevices.maximumOfAccount))
        }
        #expect(error?.code == .tooManyRequests)
        #expect(known.entries.count == KnownDevices.maximumOfAccount)
        try known.keep(entry(1, .ap), at: place(0))
        try known.keep(entry(1), at: place(0, "alice"))
        #expect(try KnownDevices(parsing: known.text, name: "") == known)
        #expect(known.text.utf8.count * KnownDevices.maximum / known.entries.count < KnownDevices.maximumSize)
    }

    // MARK: LAN access password

    @Test("Outcomes and errors of the camera are returned; an unknown method becomes `unsupported`")
    func lanPassword() async throws {
        let rows: [(Result<JSONValue, IoTError>, LANPasswordOutcome?, ErrorCode?)] = [
            (.success(["outcome": "null"]), .null, nil), (.success(["outcome": "ok"]), .ok, nil),
            (.success(["outcome": "changed"]), .changed, nil),
            (.failure(IoTError(.lanPasswordWrong)), .wrong, .lanPasswordWrong),
            (.failure(IoTError(.lanPasswordChangeFailed)), .changeFailed, .lanPasswordChangeFailed),
            (.failure(IoTError(.relationInvalid)), .forbidden, .relationInvalid),
            (.failure(IoTError(.peerTimeout)), .timeout, .peerTimeout),
            (.failure(IoTError(.invalidRequest)), .unsupported, .lanPasswordUnsupported),
        ]
        #expect(Set(rows.compactMap(\.1)) == Set(LANPasswordOutcome.allCases))
        for (answer, outcome, code) in rows {
            let link = ScriptedLink { request throws(IoTError) in
                guard request.method == "device.lanPassword" else { return [:] }
                return try answer.get()
            }
            try await withGateway(link) { gateway in
                let devices = gateway.session(of: "guest").devices
                let request = LANPasswordRequest(password: "old one", newPassword: "new one")
                #expect(!"\(request)".contains("one"))
                if let code {
                    let error = await #expect(throws: IoTError.self) {
                        try await devices.lanPassword(of: "front", request, requestID: "r")
                    }
                    #expect(error?.code == code)
                    #expect(error.flatMap { LANPasswordOutcome($0) } == outcome)
                } else {
                    let done = try await devices.lanPassword(of: "front", request, requestID: "r")
                    #expect(done.outcome == outcome)
                }
            }
            #expect(
                link.requests.first?.params == ["device": "front", "password": "old one", "newPassword": "new one"])
            #expect(link.requests.first?.account == Principal("u/guest"))
        }
    }
}
