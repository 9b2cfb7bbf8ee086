import Foundation
import GRDB
import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("Media keys as requests")
struct KeyTests {
    private func online(_ limits: HubLimits = HubLimits()) throws -> CoreFixture {
        var hub = try CoreFixture(limits: limits)
        try hub.bringEverybodyOnline()
        return hub
    }

    private func make(_ hub: inout CoreFixture, _ more: JSONValue = [:]) throws -> LinkReply {
        var params = more
        if params["name"] == nil { params["name"] = "tablet" }
        if params["ttlSeconds"] == nil { params["ttlSeconds"] = 100 }
        return try #require(try hub.request(hub.guest, "key.create", params))
    }

    private func check(_ hub: inout CoreFixture, _ key: JSONValue?) throws -> LinkReply {
        try #require(try hub.request(hub.stranger, "key.check", ["key": key ?? .null]))
    }

    /// Computed by other programs: `printf 0123456789:iotvideod:0123456789AAECAwQFBgcICQoLDA0ODw | md5sum`, and
    /// `sha256sum`.
    @Test("A key is stored as HA1 of RFC 7616, with its id as the user and the key as the password")
    func digest() throws {
        let key = try #require(MediaKey("0123456789AAECAwQFBgcICQoLDA0ODw"))
        let digest = KeyDigest(key)
        #expect(digest.md5 == "665e1d1399a7de69d2931d8583ada272")
        #expect(digest.sha256 == "1c27e613a2a946a6a3cce9fae72f9940ce49eef3f6d53e461e238f2606a7e77a")
        #expect(digest.matches(key) && !digest.matches(.random()))
        // The same bytes in a different encoding.
        let other = try #require(MediaKey("0123456789AAECAwQFBgcICQoLDA0ODx"))
        #expect(!digest.matches(other))
        #expect(KeyDigest(md5: digest.md5, sha256: digest.sha256) == digest)
        for wrong in ["", "x", String(digest.md5.dropLast()), digest.md5.uppercased()] {
            #expect(KeyDigest(md5: wrong, sha256: digest.sha256) == nil)
        }
    }

    @Test("A digest made with a key proves the key until it is revoked; a digest with a wrong part is refused")
    func proofs() throws {
        var hub = try online()
        let made = try make(&hub, ["devices": ["front"]]).result
        let key = try #require(made["key"]?.stringValue)
        for algorithm in DigestAlgorithm.allCases {
            for hasQuality in [true, false] {
                let proof = KeyProof.made(with: key, algorithm, hasQuality: hasQuality)
                let result = try hub.request(hub.stranger, "key.prove", proof)?.result
                #expect(try result == check(&hub, made["key"]).result, "\(algorithm) \(hasQuality)")
                for (name, value) in [
                    ("id", "0123456789"), ("id", key), ("algorithm", "SHA-1"), ("method", "PLAY"),
                    ("uri", "rtsp://h/back"), ("nonce", "other"), ("response", String(repeating: "0", count: 32)),
                ] as [(String, String)] {
                    var wrong = proof
                    wrong[name] = .string(value)
                    #expect(try hub.request(hub.stranger, "key.prove", wrong)?.code == .unauthenticated, "\(name)")
                }
            }
        }
        var wrong = KeyProof.made(with: key)
        wrong["nc"] = .integer(-1)
        #expect(try hub.request(hub.stranger, "key.prove", wrong)?.code == .unauthenticated)
        #expect(try hub.request(hub.guest, "key.revoke", ["id": made["id"] ?? .null])?.code == .success)
        let late = try hub.request(hub.stranger, "key.prove", KeyProof.made(with: key))
        #expect(late?.code == .unauthenticated)
        #expect(late?.message.contains(key) != true)
    }

    @Test("A key check returns the account and the rights until the key is revoked or expires; other texts are refused")
    func life() throws {
        var hub = try online()
        let made = try make(&hub, ["devices": ["front"]]).result
        let key = try #require(made["key"]?.stringValue)
        #expect(key.utf8.count == 32 && key.hasPrefix(made["id"]?.stringValue ?? "-"))
        let isSentToBroker = hub.outputs.contains { if case .message = $0 { false } else { true } }
        #expect(!isSentToBroker)
        #expect(
            try check(&hub, made["key"]).result == [
                "account": "guest", "id": made["id"] ?? .null, "expires": .integer(hub.time.seconds + 100),
                "devices": [.string(hub.front.rawValue)], "actions": ["view"],
            ])
        let plain = try make(&hub, ["actions": ["playback", "view"]]).result
        let all = try check(&hub, plain["key"]).result
        #expect(all["devices"] == .null && all["actions"] == ["view", "playback"])

        let last = key.hasSuffix("A") ? "Q" : "A"
        for wrong in [key.dropLast() + last, plain["id"]!.stringValue! + key.dropFirst(10), "", "a.b.c"] {
            #expect(try check(&hub, .string(String(wrong))).code == .unauthenticated)
        }
        #expect(try hub.request(hub.guest, "key.revoke", ["id": made["id"] ?? .null])?.code == .success)
        #expect(try check(&hub, made["key"]).code == .unauthenticated)
        #expect(try hub.request(hub.guest, "key.revoke", ["id": made["id"] ?? .null])?.code == .notFound)
        hub.advance(.seconds(100))
        #expect(try check(&hub, plain["key"]).code == .unauthenticated)
        for address in [hub.guest, hub.stranger] { _ = try hub.request(address, "session.begin") }
        _ = hub.timeout()
        #expect(hub.core.state.keys.values.isEmpty)
    }

    @Test("A key allows only media, only devices of its account, has a name and a bounded lifetime")
    func refused() throws {
        var hub = try online()
        for (params, code): (JSONValue, ErrorCode) in [
            (["actions": ["control"]], .invalidRequest), (["actions": ["view", "configure"]], .invalidRequest),
            (["actions": []], .invalidRequest), (["devices": []], .invalidRequest),
            (["devices": ["back"]], .targetNotFound), (["devices": [.string(hub.back.rawValue)]], .relationInvalid),
            (["name": ""], .invalidRequest), (["name": "a\nb"], .invalidRequest), (["name": "\u{9B}"], .invalidRequest),
            (["name": .string(String(repeating: "ä", count: 65))], .invalidRequest),
            (["ttlSeconds": 0], .invalidRequest), (["ttlSeconds": 315_360_001], .invalidRequest),
            (["user": "owner"], .forbidden),
        ] {
            #expect(try make(&hub, params).code == code, "\(params)")
        }
        #expect(hub.core.state.keys.values.isEmpty)
        #expect(try make(&hub, ["name": .string(String(repeating: "ä", count: 64))]).code == .success)
    }

    @Test("An account has a bounded number of keys, which do not count as tokens")
    func bounded() throws {
        var limits = HubLimits()
        limits.keysOfAccount = 2
        limits.tokensOfPrincipal = 1
        var hub = try online(limits)
        for code in [ErrorCode.success, .success, .tooManyRequests] { #expect(try make(&hub).code == code) }
        #expect(try hub.request(hub.guest, "token.create", ["ttlSeconds": 100])?.code == .success)
    }

    @Test("Accounts see their own keys, administrators all, and nobody the keys themselves or their hashes")
    func list() throws {
        var hub = try online()
        let made = try make(&hub, ["devices": ["front"]]).result
        _ = try hub.request(hub.owner, "key.create", ["name": "own", "ttlSeconds": 100])
        let own = try hub.request(hub.guest, "key.list")?.result
        #expect(
            own == [
                "keys": [
                    [
                        "id": made["id"] ?? .null, "name": "tablet", "account": "guest", "actions": ["view"],
                        "devices": [.string(hub.front.rawValue)], "issued": .integer(hub.time.seconds),
                        "expires": .integer(hub.time.seconds + 100),
                    ]
                ], "more": false,
            ])
        let time = hub.time
        try hub.core.ensureAdministrator(hub.owner.principal.accessID!, at: time)
        #expect(try hub.request(hub.owner, "key.list", ["limit": 1])?.result["more"] == true)
        #expect(try hub.request(hub.owner, "key.list")?.result["keys"]?.arrayValue?.count == 2)
        // Keys for others, and of others.
        let given = try hub.request(hub.owner, "key.create", ["name": "tv", "user": "guest", "ttlSeconds": 100])?.result
        #expect(try check(&hub, given?["key"]).result["account"] == "guest")
        #expect(try hub.request(hub.stranger, "key.revoke", ["id": made["id"] ?? .null])?.code == .forbidden)
        #expect(try hub.request(hub.owner, "key.revoke", ["id": made["id"] ?? .null])?.code == .success)
        // The key itself can name it too, and is not repeated.
        #expect(try hub.request(hub.guest, "key.revoke", ["id": given?["key"] ?? .null])?.code == .success)
        let refusal = try hub.request(hub.guest, "key.revoke", ["id": given?["key"] ?? .null])
        let text = try #require(given?["key"]?.stringValue)
        #expect(refusal?.code == .notFound && refusal?.message.contains(text.dropFirst(10)) == false)
    }

    @Test("The last use is known to the minute, and a check writes nothing by itself")
    func lastUse() throws {
        var hub = try online()
        let made = try make(&hub).result
        let id = try #require(made["id"]?.stringValue)
        func uses() -> [Int64] {
            hub.stored.compactMap { change in
                guard case .use(.key(id), let time) = change else { return nil }
                return time
            }
        }
        _ = hub.timeout()
        #expect(uses().isEmpty)
        let first = hub.time.seconds
        _ = try check(&hub, made["key"])
        #expect(hub.core.nextTimeout(at: hub.time).map { $0 <= hub.time.monotonic + .seconds(1) } == true)
        for _ in 0..<59 {
            _ = try check(&hub, made["key"])
            _ = hub.timeout()
            hub.advance(.seconds(1))
            for address in [hub.guest, hub.stranger] { _ = try hub.request(address, SessionMethod.heartbeat.name) }
        }
        #expect(uses() == [first])
        hub.advance(.seconds(1))
        _ = try check(&hub, made["key"])
        #expect(uses() == [first])
        _ = hub.timeout()
        #expect(uses() == [first, first + 60])
        let listed = try hub.request(hub.guest, "key.list")?.result["keys"]?.arrayValue?.first
        #expect(listed?["lastUse"] == .integer(first + 60))
    }

    @Test("A key ends with its account, and with the API token that it was made with, and exceeds neither")
    func derived() throws {
        var hub = try online()
        let token = try hub.request(
            hub.guest, "token.createAPI", ["devices": ["front"], "actions": ["view"], "ttlSeconds": 50])?.result
        let within = token?["id"] ?? .null
        #expect(try make(&hub, ["within": within, "actions": ["playback"]]).code == .forbidden)
        let made = try make(&hub, ["within": within]).result
        #expect(made["expires"] == .integer(hub.time.seconds + 50))
        let record = try #require(hub.core.state.keys[made["id"]?.stringValue ?? ""])
        #expect(record.scope == TokenRecord.Scope(devices: [hub.front], actions: .view))
        #expect(try hub.request(hub.guest, "token.revoke", ["id": within])?.code == .success)
        #expect(try check(&hub, made["key"]).code == .unauthenticated)
        #expect(hub.core.state.keys[record.id] == nil)

        let kept = try make(&hub).result
        let time = hub.time
        hub.core.removeUser(hub.guest.principal.accessID!, bindingsEnd: .removed, at: time)
        #expect(hub.core.state.keys.values.isEmpty)
        #expect(try check(&hub, kept["key"]).code == .unauthenticated)
    }

    // MARK: In the store

    @Test("Keys survive a restart, the store does not contain them, and a damaged row affects no other")
    func stored() async throws {
        let directory = TemporaryDirectory()
        var hub = try InProcessHub(directory: directory)
        let (owner, _) = try await hub.prepare()
        var made: [JSONValue] = []
        for name in ["one", "two", "three"] {
            made.append(
                try await hub.request(
                    owner, "key.create",
                    ["name": .string(name), "devices": name == "one" ? .null : ["front"], "ttlSeconds": 600]
                ).result)
        }
        #expect(try await hub.request(owner, "key.revoke", ["id": made[2]["id"] ?? .null]).code == .success)
        let before = try await hub.service.perform { core, _ throws(IoTError) in Set(core.state.keys.values) }
        await hub.stop()

        hub = try InProcessHub(directory: directory)
        let after = try await hub.service.perform { core, _ throws(IoTError) in Set(core.state.keys.values) }
        #expect(after == before && after.count == 2)
        #expect(try await hub.request(owner, "session.begin").code == .success)
        #expect(try await hub.request(owner, "key.check", ["key": made[0]["key"] ?? .null]).code == .success)
        #expect(try await hub.request(owner, "key.check", ["key": made[2]["key"] ?? .null]).code == .unauthenticated)
        await hub.stop()

        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            guard let content = FileManager.default.contents(atPath: directory.path + "/" + name) else { continue }
            for key in made {
                let secret = try #require(key["key"]?.stringValue).dropFirst(10)
                #expect(content.firstRange(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
        let path = directory.path + "/hub.sqlite"
        let queue = try DatabaseQueue(path: path)
        let damaged = made[0]["id"]?.stringValue
        try await queue.write { database in
            try database.execute(
                sql: "UPDATE media_keys SET ha1_sha256 = 'x' WHERE id = ?", arguments: [damaged])
        }
        try queue.close()
        let state = try SQLiteHubStore(path: path).load()
        #expect(state.keys.values.map(\.name) == ["two"])
    }

    @Test("A database of the release before media keys is migrated, and keeps its data")
    func migration() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/hub.sqlite"
        let queue = try DatabaseQueue(path: path)
        try SQLiteHubStore.migrator.migrate(queue, upTo: "ends of tokens")
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO users (id, created_at, kind) VALUES ('owner', 5, 'administrator');
                    INSERT INTO tokens (id, principal, hash, salt, issued, expires, is_local, kind)
                        VALUES ('t', 'u/owner', '', '', 1, 2, 0, 'api');
                    """)
        }
        try queue.close()
        let store = try SQLiteHubStore(path: path)
        #expect(try store.load().tokens["t"] != nil)
        let key = KeyRecord(
            id: "0123456789", name: "tablet", principal: .user(AccessID(rawValue: "owner")!),
            scope: TokenRecord.Scope(devices: nil, actions: .view), digest: KeyDigest(.random()), issued: 1, expires: 2)
        try store.commit([[.addKey(key)]])
        #expect(try store.load().keys["0123456789"] == key)
    }
}
