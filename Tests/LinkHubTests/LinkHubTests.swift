import Foundation
import IoTCore
import IoTLink
import LinkHub
import Testing
import ThingModel

@Suite("The hub with its broker", .timeLimit(.minutes(1)))
struct LinkHubTests {
    @Test("Without configuration it creates a key, an owner and a token, with modes 0600 and 0700, and keeps them")
    func firstStart() async throws {
        let directory = TemporaryDirectory()
        let first = try await withHub(in: directory) { hub in try await hub.ownToken() }
        for (path, mode) in [
            ("", 0o700), ("/keys", 0o700), ("/keys/signing.pem", 0o600), ("/link", 0o700), ("/link/accessId", 0o600),
            ("/link/token", 0o600), ("/hub.sqlite", 0o600), ("/broker", 0o700), ("/broker/mosquitto.conf", 0o600),
            ("/broker/dynamic-security.json", 0o600), ("/broker/mosquitto.log", 0o600),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
        }
        let second = try await withHub(in: directory) { hub in try await hub.ownToken() }
        #expect(first == second)
        #expect(try String(contentsOfFile: directory.path + "/link/token", encoding: .utf8) == first + "\n")
    }

    @Test("A second hub on one data directory is refused")
    func secondHub() throws {
        let directory = TemporaryDirectory()
        let first = try LinkHub(HubConfiguration(dataDirectory: directory.path), logger: quietLogger)
        let error = #expect(throws: IoTError.self) {
            _ = try LinkHub(HubConfiguration(dataDirectory: directory.path), logger: quietLogger)
        }
        #expect(error?.code == .alreadyRunning)
        withExtendedLifetime(first) {}
    }

    @Test(
        "Login, read, write, delivery, applied, report, push and action, each over the real broker",
        arguments: [BrokerSupervisor.EndpointChoice.unixSocket, .loopback()])
    func wholeFlow(endpoint: BrokerSupervisor.EndpointChoice) async throws {
        try await withHub(in: TemporaryDirectory(), endpoint: endpoint) { hub in
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            let id = JSONValue.string(device.rawValue)
            let (writes, writeFeed) = AsyncStream.makeStream(of: LinkRequest.self)
            try await withSession(
                hub, .device(device), deviceToken,
                prepare: { session in
                    session.handle("model.write") { request in
                        writeFeed.yield(request)
                        return [:]
                    }
                    session.handle("action.take") { request in
                        ["value": request.params["value"] ?? .null, "from": .string(request.from?.description ?? "")]
                    }
                }
            ) { camera in
                _ = try await camera.request("model.login", try ModelLogin.sample().json)
                try await withSession(hub, owner, ownerToken) { user in
                    var pushes = user.pushes().makeAsyncIterator()
                    let list = try await user.request("device.list")
                    #expect(list["devices"]?.arrayValue?.first?["name"] == "front")
                    #expect(list["devices"]?.arrayValue?.first?["online"] == true)

                    let written = try await user.request(
                        "property.write", ["device": "front", "path": "ProWritable.quality.setVal", "value": 7])
                    #expect(written["value"]?["setVal"] == 7)
                    #expect(written["pending"] == true)
                    let update = try #require(await pushes.next())
                    #expect(update.method == "property.update")
                    #expect(update.params["path"] == "ProWritable.quality")
                    #expect(update.params["value"]?["setVal"] == 7)

                    var deliveries = writes.makeAsyncIterator()
                    let delivery = try #require(await deliveries.next())
                    #expect(delivery.params["path"] == "ProWritable.quality")
                    #expect(delivery.params["value"]?["setVal"] == 7)
                    _ = try await camera.request(
                        "model.applied",
                        ["path": "ProWritable.quality", "version": delivery.params["version"] ?? .null])
                    let shown = try await user.request("device.show", ["device": id])
                    #expect(shown["pending"]?.arrayValue?.contains("ProWritable.quality") == false)
                    #expect(shown["model"]?["ProReadonly"]?["_online"]?["stVal"] == 1)

                    _ = try await camera.request(
                        "model.report", ["changes": [["path": "ProReadonly.viewers.stVal", "value": 3]]])
                    let read = try await user.request(
                        "property.read", ["device": id, "path": "ProReadonly.viewers.stVal"])
                    #expect(read["value"] == 3)

                    let taken = try await user.request(
                        "action.take", ["device": id, "path": "Action.cameraOn", "value": ["ctlVal": 0]])
                    #expect(taken == ["value": 0, "from": .string(owner.description)])
                    let action = try await user.request("property.read", ["device": id, "path": "Action.cameraOn"])
                    #expect(action["value"]?["origin"] == .string(owner.description))
                    #expect(action["value"]?["ctlVal"] == 0)
                }
            }
        }
    }

    @Test("A write while the device is offline is stored, survives the hub, and is delivered at the login")
    func offlineWrite() async throws {
        let directory = TemporaryDirectory()
        let version = try await withHub(in: directory) { hub in
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            try await withSession(hub, .device(device), deviceToken) { camera in
                _ = try await camera.request("model.login", try ModelLogin.sample().json)
            }
            return try await withSession(hub, owner, ownerToken) { user in
                try await waitUntilOffline(user, device)
                let written = try await user.request(
                    "property.write", ["device": "front", "path": "ProWritable.quality.setVal", "value": 9])
                #expect(written["pending"] == true)
                let shown = try await user.request("device.show", ["device": "front"])
                #expect(shown["pending"]?.arrayValue?.contains("ProWritable.quality") == true)
                #expect(shown["model"]?["ProReadonly"]?["_online"]?["stVal"] == 0)
                let error = await #expect(throws: IoTError.self) {
                    try await user.request(
                        "action.take", ["device": "front", "path": "Action.cameraOn", "value": ["ctlVal": 0]])
                }
                #expect(error?.code == .deviceOffline)
                return written["version"]
            }
        }
        try await withHub(in: directory) { hub in
            let (_, _, device, deviceToken) = try await hub.ownerAndDevice()
            try await withSession(hub, .device(device), deviceToken) { camera in
                let login = try await camera.request("model.login", try ModelLogin.sample().json)
                #expect(login["writable"]?["quality"]?["value"]?["setVal"] == 9)
                #expect(login["writable"]?["quality"]?["version"] == version)
            }
        }
    }

    private func waitUntilOffline(_ user: LinkSession, _ device: DeviceID) async throws {
        var pushes = user.pushes().makeAsyncIterator()
        while try await user.request("device.show", ["device": "front"])["online"] == true {
            _ = await pushes.next()
        }
    }

    @Test("A newer session kicks the older, and the older one's will changes nothing")
    func kick() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            // The broker itself would end an earlier connection of the same token.
            let earlierToken = try await hub.issueToken(.device(device), lifetime: .seconds(600))
            let claims = try TokenClaims(parsing: earlierToken)
            let address = LinkAddress.random(.device(device))
            let old = RawClient(
                hub.endpoint, userName: claims.id, password: earlierToken,
                will: MQTTMessage(
                    topic: address.upTopic, payload: Array(#"{"method":"session.end","params":{}}"#.utf8)))
            #expect(await old.waitUntilConnected())
            try old.subscribe(address.downTopic)
            #expect(await old.grant(of: address.downTopic) == true)
            try old.publish(address.upTopic, #"{"id":"b1","method":"session.begin","params":{},"t":0,"deadline":1}"#)
            #expect(await old.first { $0.envelope?.replyCode } == .success)

            try await withSession(hub, .device(device), deviceToken) { camera in
                let kick = await old.first { event in
                    if case .push(let push)? = event.envelope { push.method } else { nil }
                }
                #expect(kick == SessionMethod.kick.name)
                // The old client keeps sending, and then dies: its will is published.
                try old.publish(address.upTopic, #"{"method":"session.end","params":{}}"#)
                try old.publish(
                    address.upTopic, #"{"id":"h1","method":"session.heartbeat","params":{},"t":0,"deadline":1}"#)
                _ = try await camera.request("model.login", try ModelLogin.sample().json)
                try await withSession(hub, owner, ownerToken) { user in
                    let shown = try await user.request("device.show", ["device": "front"])
                    #expect(shown["online"] == true)
                }
                #expect(old.messages.count == 2, "only the reply to begin and the kick")
                old.disconnect()
            }
        }
    }

    @Test("A killed broker is restarted, and all sessions return")
    func brokerKilled() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            try await withSession(hub, .device(device), deviceToken) { camera in
                _ = try await camera.request("model.login", try ModelLogin.sample().json)
                try await withSession(hub, owner, ownerToken) { user in
                    let changes = user.statusChanges()
                    let old = try #require(hub.brokerProcessIdentifier)
                    kill(old, SIGKILL)
                    var wasOffline = false
                    for await change in changes {
                        if change.status == .offline { wasOffline = true }
                        if wasOffline, change.status == .online { break }
                    }
                    #expect(hub.brokerProcessIdentifier != old)
                    let written = try await user.request(
                        "property.write", ["device": "front", "path": "ProWritable.quality.setVal", "value": 1])
                    #expect(written["value"]?["setVal"] == 1)
                }
            }
        }
    }
}

extension MQTTEvent {
    var envelope: Envelope? {
        guard case .message(let message) = self else { return nil }
        return try? Envelope(parsing: message.payload)
    }
}

extension Envelope {
    var replyCode: ErrorCode? {
        if case .reply(let reply) = self { return reply.code }
        return nil
    }
}
