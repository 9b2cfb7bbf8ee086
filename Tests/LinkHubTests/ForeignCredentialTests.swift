import Foundation
import IoTCore
import LinkHub
import Synchronization
import Testing
import ThingModel

@testable import IoTLink

@Suite("Credentials at the broker", .timeLimit(.minutes(1)))
struct ForeignCredentialTests {
    @Test("A client that is admitted cannot end another's connection by a client id, even one that it knows")
    func clientIDs() async throws {
        try await withHub(in: TemporaryDirectory(), endpoint: .loopback()) { hub in
            let (owner, ownerToken, _, deviceToken) = try await hub.ownerAndDevice()
            let claims = try TokenClaims(parsing: deviceToken)
            try await withSession(hub, owner, ownerToken) { user in
                let (address, clientID) = user.state.withLock { ($0.machine.address, $0.machine.clientID) }
                let since = user.current.since
                // The present client id, and the one that earlier clients derived from their session's id.
                for id in [clientID, "u-owner-\(address.session)", claims.id] {
                    let attacker = RawClient(
                        hub.endpoint, clientID: id, userName: claims.id, password: deviceToken)
                    #expect(await attacker.waitUntilConnected())
                    _ = try await user.request("device.list")
                    attacker.disconnect()
                }
                #expect(user.current.status == .online && user.current.since == since)
                #expect(user.counters.handovers == 0)
                #expect(!address.downTopic.contains(clientID) && !clientID.contains(address.session))
            }
        }
    }

    @Test("A valid credential of another account reads and changes nothing on any topic")
    func attack() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            let mallory = try #require(AccessID(rawValue: "mallory"))
            try await hub.createUser(mallory)
            let token = try await hub.issueToken(.user(mallory), lifetime: .seconds(600))
            let claims = try TokenClaims(parsing: token)
            try await withSession(hub, .device(device), deviceToken) { cameraSession in
                _ = try await cameraSession.request("model.login", try ModelLogin.sample().json)
                try await withSession(hub, owner, ownerToken) { user in
                    // The sessions of the victims, as an insider would know them.
                    let victim = user.state.withLock { $0.machine.address }
                    let camera = cameraSession.state.withLock { $0.machine.address }
                    let before = try await user.request("property.read", ["device": "front", "path": ""])
                    let attacker = RawClient(hub.endpoint, userName: claims.id, password: token)
                    #expect(await attacker.waitUntilConnected())
                    try await subscribeEverywhere(attacker, victim: victim, camera: camera)
                    let ignored = hub.statistics.ignoredMessages
                    try publishEverywhere(attacker, userName: claims.id, victim: victim, camera: camera)

                    // Messages between others do not reach the attacker.
                    _ = try await user.request(
                        "property.write", ["device": "front", "path": "ProWritable.volume.setVal", "value": 5])
                    // A barrier: messages to the attacker arrive in order, and this one is allowed.
                    let own = LinkAddress.random(.user(mallory))
                    try attacker.subscribe(own.downTopic)
                    #expect(await attacker.grant(of: own.downTopic) == true)
                    try attacker.publish(
                        own.upTopic, #"{"id":"b","method":"session.begin","params":{},"t":0,"deadline":1}"#)
                    #expect(await attacker.first { $0.envelope?.replyCode } == .success)
                    #expect(attacker.messages.count == 1, "only its own reply")

                    try await leaveWills(
                        hub, attacker, Self.grant(claims.id), own: own, victim: victim, camera: camera)
                    #expect(attacker.messages.count == 2, "also the reply to its own will")
                    #expect(hub.statistics.ignoredMessages == ignored, "the hub got nothing, not even to ignore it")

                    // In its own name it may ask, and is refused.
                    for method in ["device.show", "property.read", "property.write", "action.take", "call.token"] {
                        let id = RequestID.random()
                        try attacker.publish(
                            own.upTopic,
                            """
                            {"id":"\(id)","method":"\(method)","from":"u/owner","t":0,"deadline":99999999999999,"params":
                            {"device":"\(device)","path":"ProWritable.quality.setVal","value":666,"kind":"monitor",
                            "actions":["view"]}}
                            """)
                        #expect(await attacker.first { $0.envelope?.replyCode } == .relationInvalid, "\(method)")
                    }
                    let shown = try await user.request("device.show", ["device": "front"])
                    #expect(shown["online"] == true)
                    #expect(user.current.status == .online && cameraSession.current.status == .online)
                    let after = try await user.request("property.read", ["device": "front", "path": ""])
                    #expect(after["value"]?["ProWritable"]?["volume"]?["setVal"] == 5)
                    #expect(
                        after["value"]?["ProWritable"]?["quality"] == before["value"]?["ProWritable"]?["quality"])
                    #expect(after["value"]?["ProReadonly"] == before["value"]?["ProReadonly"])
                    attacker.disconnect()
                }
            }
        }
    }

    private func subscribeEverywhere(
        _ attacker: RawClient, victim: LinkAddress, camera: LinkAddress
    ) async throws {
        for filter in [
            "#", "+/#", "iotlink/#", "iotlink/1/#", "iotlink/1/up/#", "iotlink/1/down/#", "iotlink/1/down/u/#",
            "iotlink/1/down/u/+/+", "iotlink/1/down/d/+/+", "iotlink/1/down/u/owner/+", "iotlink/1/up/u/mallory/+",
            "iotlink/1/up/d/\(camera.principal.id)/+", victim.downTopic, victim.upTopic, camera.downTopic, "$SYS/#",
            "$CONTROL/#",
            "$CONTROL/dynamic-security/v1/response", "$share/group/iotlink/1/down/u/owner/+",
        ] {
            try attacker.subscribe(filter)
            #expect(await attacker.grant(of: filter) == false, "\(filter)")
        }
    }

    /// MQTT 3.1.1 acknowledges a refused publication like any other: only its effect can be checked.
    private func publishEverywhere(
        _ attacker: RawClient, userName: String, victim: LinkAddress, camera: LinkAddress
    ) throws {
        let report =
            #"{"id":"x2","method":"model.report","t":0,"deadline":99999999999999,"params":{"changes":[{"#
            + #""path":"ProReadonly.viewers.stVal","value":666}]}}"#
        for (topic, payload) in [
            (victim.upTopic, Self.write), (victim.downTopic, Self.kick), (camera.upTopic, report),
            (camera.upTopic, Self.end), (camera.downTopic, Self.kick), ("iotlink/1/up/u/owner", Self.write),
            ("iotlink/1/up/u/mallory/x/y", Self.write), ("$CONTROL/dynamic-security/v1", Self.grant(userName)),
            ("$CONTROL/dynamic-security/v1/response", Self.grant(userName)), ("$SYS/broker/version", "x"),
        ] {
            try attacker.publish(topic, payload)
        }
    }

    /// Wills on other principals' topics, for the broker to publish when the connection breaks.
    private func leaveWills(
        _ hub: LinkHub, _ attacker: RawClient, _ grant: String, own: LinkAddress, victim: LinkAddress,
        camera: LinkAddress
    ) async throws {
        // A separate token, because a second connection of the attacker's token would end the first.
        let token = try await hub.issueToken(own.principal, lifetime: .seconds(600))
        let userName = try TokenClaims(parsing: token).id
        guard case .unixSocket(let path) = hub.endpoint else { throw IoTError(.internalFailure) }
        let client = AbruptClient(socketPath: path, userName: userName, password: token)
        func leave(_ topic: String, _ payload: String) throws -> UInt8 {
            try client.connectAndHangUp(will: MQTTMessage(topic: topic, payload: Array(payload.utf8)))
        }
        for (topic, payload) in [
            (camera.upTopic, Self.end), (camera.downTopic, Self.kick), (victim.upTopic, Self.write),
            (victim.downTopic, Self.kick), ("$CONTROL/dynamic-security/v1", grant),
        ] {
            // The broker checks the right when it publishes the will.
            #expect(try leave(topic, payload) == 0, "\(topic)")
        }
        // An allowed will is published and answered; the earlier ones were handled by then.
        let request = #"{"id":"w","method":"session.begin","params":{},"t":0,"deadline":1}"#
        #expect(try leave(own.upTopic, request) == 0)
        #expect(await attacker.first { $0.envelope?.replyCode } == .success)
        // If the broker's rights had changed, this would be granted.
        try attacker.subscribe("iotlink/#")
        #expect(await attacker.grant(of: "iotlink/#") == false)
    }

    private static let write =
        #"{"id":"x1","method":"property.write","t":0,"deadline":99999999999999,"params":{"device":"front","#
        + #""path":"ProWritable.quality.setVal","value":666}}"#
    private static let kick = #"{"method":"session.kick","params":{}}"#
    private static let end = #"{"method":"session.end","params":{}}"#

    private static func grant(_ userName: String) -> String {
        #"{"commands":[{"command":"addClientRole","username":"\#(userName)","rolename":"hub"}]}"#
    }

    @Test("A wrong password and another token's password are refused")
    func wrongPassword() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (_, ownerToken, _, deviceToken) = try await hub.ownerAndDevice()
            let claims = try TokenClaims(parsing: ownerToken)
            for (name, password) in [
                (claims.id, "x"), (claims.id, ""), (claims.id, deviceToken), ("hub", ownerToken), ("", ownerToken),
                ("nobody", ownerToken), (claims.id, ownerToken + "A"),
            ] {
                let client = RawClient(hub.endpoint, userName: name, password: password)
                let end = await client.end()
                guard case .credentialsRefused = end else {
                    Issue.record("'\(name)' was not refused: \(String(describing: end))")
                    continue
                }
            }
        }
    }

    @Test("A revoked token ends its own sessions at once, cannot connect again, and affects no other session")
    func revoked() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let (owner, ownerToken, _, _) = try await hub.ownerAndDevice()
            let second = try await hub.issueToken(owner, lifetime: .seconds(600))
            let claims = try TokenClaims(parsing: second)
            let bystander = RawClient(
                hub.endpoint, userName: try TokenClaims(parsing: ownerToken).id, password: ownerToken)
            #expect(await bystander.waitUntilConnected())
            try await withSession(hub, owner, second) { session in
                try await hub.revokeToken(id: claims.id)
                try await session.wait(for: .tokenFailed)
            }
            // The bystander's connection can still subscribe.
            let own = LinkAddress.random(owner)
            try bystander.subscribe(own.downTopic)
            #expect(await bystander.grant(of: own.downTopic) == true)
            bystander.disconnect()
            let error = await #expect(throws: IoTError.self) { try await hub.revokeToken(id: claims.id) }
            #expect(error?.code == .notFound)
        }
    }

    @Test("A revoked token stays revoked after a restart of the hub and its broker")
    func revokedAcrossRestart() async throws {
        let directory = TemporaryDirectory()
        let token = try await withHub(in: directory) { hub in
            let (owner, _, _, _) = try await hub.ownerAndDevice()
            let token = try await hub.issueToken(owner, lifetime: .seconds(600))
            try await hub.revokeToken(id: try TokenClaims(parsing: token).id)
            return token
        }
        try await withHub(in: directory) { hub in
            let client = RawClient(hub.endpoint, userName: try TokenClaims(parsing: token).id, password: token)
            guard case .credentialsRefused = await client.end() else {
                Issue.record("the token was accepted")
                return
            }
        }
    }

    @Test("The broker listens on its socket and nowhere else")
    func listensNowhereElse() async throws {
        try await withHub(in: TemporaryDirectory()) { hub in
            let process = try #require(hub.brokerProcessIdentifier)
            let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
            }
            let sockets = Set(files.filter { $0.hasPrefix("socket:[") }.map { $0.dropFirst(8).dropLast() })
            #expect(!sockets.isEmpty)
            for table in ["tcp", "tcp6", "udp", "udp6"] {
                let text = (try? String(contentsOfFile: "/proc/net/\(table)", encoding: .utf8)) ?? ""
                for line in text.split(separator: "\n").dropFirst() {
                    let words = line.split(separator: " ")
                    #expect(words.count > 9 && !sockets.contains(words[9]), "\(table): \(line)")
                }
            }
        }
    }
}
