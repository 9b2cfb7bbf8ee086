import Foundation
import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("New tokens for online sessions, at a real hub", .timeLimit(.minutes(1)))
struct TokenHandoverTests {
    @Test("updateToken moves a device to the new token: the hub sees one session throughout, and nothing is lost")
    func updateToken() async throws {
        try await withHub(in: TemporaryDirectory(), tls: HubTLS(host: "127.0.0.1", port: 0)) { hub in
            let (owner, ownerToken, device, first) = try await hub.ownerAndDevice()
            let second = try await hub.issueToken(.device(device), lifetime: .seconds(600))
            let endpoint = try #require(hub.tlsEndpoint)
            try await withSession(hub, owner, ownerToken) { user in
                let presence = user.pushes()
                let configuration = LinkConfiguration(
                    principal: .device(device), token: .value(first), endpoint: endpoint)
                try await withSession(configuration) { session in
                    // The test revokes the first token only when the session has left it.
                    session.updateToken(second)
                    let deadline = NIODeadline.now() + .seconds(20)
                    while session.counters.handovers == 0, NIODeadline.now() < deadline {
                        _ = try await session.request(SessionMethod.heartbeat.name)
                    }
                    #expect(session.counters.handovers == 1)
                    try await hub.revokeToken(id: try TokenClaims(parsing: first).id)
                    for _ in 0..<20 { _ = try await session.request(SessionMethod.heartbeat.name) }
                    #expect(session.current.status == .online)
                    #expect(session.counters.onlineCount == 1)
                    #expect(session.counters.resentRequests == 0)
                }
                // On and off once each, with no interruption in between.
                var seen: [Bool] = []
                for await push in presence where push.method == "device.presence" {
                    let isOnline = push.params["online"]?.boolValue ?? false
                    seen.append(isOnline)
                    if !isOnline { break }
                }
                #expect(seen == [true, false])
            }
        }
    }

    @Test("A session renews a short token by itself, writes it to its file, and continues after the first has ended")
    func renews() async throws {
        let directory = TemporaryDirectory()
        try await withHub(in: directory) { hub in
            let owner = try await hub.ensureOwnAccount()
            let token = try await hub.issueToken(.user(owner), lifetime: .seconds(6))
            let file = directory.path + "/owner-token"
            try PrivateFile.write(token, to: file)
            let configuration = LinkConfiguration(
                principal: .user(owner), token: .file(path: file), endpoint: hub.endpoint)
            try await withSession(configuration) { session in
                let expires = try #require(try TokenClaims(parsing: token).expires)
                // Past the expiry of the first token, and its leeway.
                while WallClock.milliseconds() < (expires + 1) * 1_000 {
                    _ = try await session.request("device.list")
                }
                #expect(session.counters.renewedTokens >= 1)
                #expect(session.counters.handovers == session.counters.renewedTokens)
                #expect(session.counters.onlineCount == 1)
                let kept = try LinkToken.file(path: file).read()
                #expect(kept != token)
                var status = stat()
                #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            }
        }
    }

    @Test("An enrolment over TLS: the secret goes only to the authority in the string, and its tokens work")
    func enrolment() async throws {
        try await withHub(in: TemporaryDirectory(), tls: HubTLS(host: "127.0.0.1", port: 0)) { hub in
            let owner = try await hub.ensureOwnAccount()
            let text = try await hub.enrol(user: owner)
            #expect(text.hasPrefix("iotlink://127.0.0.1:"))
            // With another authority at the same address it is refused, and the string still works afterwards.
            let good = try EnrolmentString(parsing: text)
            let other = text.replacingOccurrences(
                of: "ca=[A-Za-z0-9_-]+", with: "ca=" + String(repeating: "A", count: 43), options: .regularExpression)
            let swapped = await #expect(throws: IoTError.self) {
                try await Enrolment.exchange(try EnrolmentString(parsing: other))
            }
            #expect(swapped?.code == .certificateRejected)
            #expect(swapped?.message.contains(Hex.encode([UInt8](repeating: 0, count: 32))) == true)

            let grant = try await Enrolment.exchange(good)
            let user = try #require(grant.user)
            #expect(user.accessID == owner)
            let authority = try CertificateAuthority(pem: try #require(grant.certificateAuthority))
            #expect(authority.fingerprint == hub.certificateAuthorityFingerprint)
            let file = TemporaryDirectory().path + "-ca.pem"
            try PrivateFile.write(authority.pem, to: file)
            defer { unlink(file) }
            let configuration = LinkConfiguration(
                principal: .user(owner), token: .value(user.token),
                endpoint: grant.endpoint(certificateAuthorityFile: file))
            try await withSession(configuration) { session in _ = try await session.request("device.list") }

            let reused = await #expect(throws: IoTError.self) { try await Enrolment.exchange(good) }
            #expect(reused?.code == .provisioningTokenExpired)
        }
    }
}
