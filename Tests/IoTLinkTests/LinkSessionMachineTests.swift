import Crypto
import Foundation
import IoTCore
import NIOCore
import Testing

@testable import IoTLink

@Suite("States of the link session, in virtual time")
struct LinkSessionMachineTests {
    @Test("Registering connects, subscribes to the session's own topic, begins the session and goes online")
    func register() throws {
        var session = VirtualSession()
        #expect(session.machine.status.status == .unregistering)
        #expect(session.machine.status.cause == .notRegistered)

        session.feed(.register)
        #expect(session.connects == 1)
        #expect(session.statuses.map(\.status) == [.registering])
        let address = session.machine.address

        session.feed(.connected)
        guard case .subscribe(let filter)? = session.outputs.first else { throw Unexpected() }
        #expect(filter == "iotlink/1/down/u/owner/\(address.session)")

        session.feed(.subscribed(granted: true))
        guard case .publish(let topic, _, _)? = session.outputs.first else { throw Unexpected() }
        #expect(topic == "iotlink/1/up/u/owner/\(address.session)")
        let begin = try #require(session.publishedRequests.first)
        #expect(begin.method == "session.begin")
        #expect(
            begin.params == ["session": .string(address.session), "versions": [1], "batches": true, "connection": 1])
        #expect(session.machine.status.status == .registering)

        session.receive(LinkReply(id: begin.id, result: ["t": .integer(session.wall)]))
        #expect(session.statuses.map(\.status) == [.online])
        #expect(session.machine.status.reason == nil)
        #expect(session.machine.counters.onlineCount == 1)
    }

    @Test("Envelopes may be joined once the hub says that it reads batches, until the session begins again")
    func batches() {
        func joinable(_ session: VirtualSession) -> [Bool] {
            session.outputs.compactMap { if case .publish(_, _, let isJoinable) = $0 { isJoinable } else { nil } }
        }
        var session = VirtualSession()
        session.feed(.register)
        session.connect()
        #expect(joinable(session) == [false])
        session.answerBegin(batches: true)
        session.request("a")
        #expect(joinable(session) == [true])
        session.feed(.lost(IoTError(.linkUnavailable)))
        session.advance(.seconds(60))
        session.connect()
        #expect(joinable(session) == [false])
        // Another hub, which does not.
        session.answerBegin()
        session.request("b")
        #expect(joinable(session) == [false])
    }

    struct Setback: Sendable, CustomTestStringConvertible {
        let name: String
        let status: LinkStatus
        let cause: LinkStatusChange.Cause
        let code: ErrorCode
        let happen: @Sendable (inout VirtualSession) -> Void
        var testDescription: String { name }
    }

    static let setbacks: [Setback] = [
        Setback(name: "broker unreachable", status: .offline, cause: .connectionLost, code: .linkUnavailable) {
            $0.feed(.lost(IoTError(.linkUnavailable)))
        },
        Setback(name: "broker silent", status: .offline, cause: .noAnswer, code: .linkUnavailable) {
            $0.advance(.seconds(10))
        },
        Setback(name: "credentials refused", status: .tokenFailed, cause: .tokenRefused, code: .tokenRejected) {
            $0.feed(.credentialsRefused(IoTError(.tokenRejected)))
        },
        Setback(name: "token unreadable", status: .tokenFailed, cause: .tokenUnreadable, code: .invalidConfiguration) {
            $0.feed(.tokenUnreadable(IoTError(.invalidConfiguration)))
        },
        Setback(name: "subscription refused", status: .offline, cause: .refused, code: .forbidden) {
            $0.feed(.connected)
            $0.feed(.subscribed(granted: false))
        },
        Setback(name: "no answer to the subscription", status: .offline, cause: .noAnswer, code: .linkUnavailable) {
            $0.feed(.connected)
            $0.advance(.seconds(10))
        },
        Setback(name: "hub silent", status: .offline, cause: .noAnswer, code: .linkUnavailable) {
            $0.connect()
            $0.advance(.seconds(10))
        },
        Setback(name: "hub refuses the token", status: .tokenFailed, cause: .tokenRefused, code: .tokenRejected) {
            $0.connect()
            $0.receive(LinkReply(id: $0.publishedRequests[0].id, error: IoTError(.tokenRejected)))
        },
        Setback(name: "hub refuses the session", status: .offline, cause: .refused, code: .storeFailed) {
            $0.connect()
            $0.receive(LinkReply(id: $0.publishedRequests[0].id, error: IoTError(.storeFailed)))
        },
        Setback(name: "kicked before online", status: .kickOff, cause: .kicked, code: .linkUnavailable) {
            $0.connect()
            $0.feed(.received(.push(LinkPush(method: "session.kick"))))
        },
        Setback(name: "kicked", status: .kickOff, cause: .kicked, code: .linkUnavailable) {
            $0.connect()
            $0.answerBegin()
            $0.feed(.received(.push(LinkPush(method: "session.kick", params: ["reason": "newer"]))))
        },
        Setback(name: "connection lost", status: .offline, cause: .connectionLost, code: .linkUnavailable) {
            $0.connect()
            $0.answerBegin()
            $0.feed(.lost(IoTError(.linkUnavailable)))
        },
        Setback(name: "heartbeats unanswered", status: .offline, cause: .noAnswer, code: .linkUnavailable) {
            $0.connect()
            $0.answerBegin()
            $0.advance(.seconds(45))
        },
    ]

    @Test("Each setback leads to its status and reason", arguments: setbacks)
    func setback(_ setback: Setback) {
        var session = VirtualSession()
        session.feed(.register)
        setback.happen(&session)
        let status = session.machine.status
        // After a silence the next attempt may already be running. The status is still offline.
        #expect(status.status == setback.status)
        #expect(status.cause == setback.cause)
        #expect(status.reason?.code == setback.code)

        session.advance(.hours(24))
        let attempts = session.connects
        if setback.status == .offline {
            #expect(attempts > 1_000, "it keeps reconnecting")
        } else {
            #expect(attempts == 0, "it does not reconnect")
            #expect(session.machine.nextDeadline == nil)
        }
    }

    @Test(
        "session.begin is repeated for a hub that connects later, and any of the requests may be answered"
    )
    func beginAgain() {
        for answered in 0..<4 {
            var session = VirtualSession()
            session.feed(.register)
            session.connect()
            var requests = session.publishedRequests
            session.advance(.milliseconds(7_500))
            requests += session.publishedRequests
            #expect(requests.map(\.method) == Array(repeating: "session.begin", count: 4), "at 0, 1, 3 and 7 s")
            #expect(Set(requests.map(\.id)).count == 4)
            session.receive(LinkReply(id: requests[answered].id, result: ["t": .integer(session.wall)]))
            #expect(session.machine.status.status == .online)
            // A late second answer has no effect.
            session.receive(LinkReply(id: requests[3 - answered].id, result: ["t": .integer(session.wall)]))
            #expect(session.machine.status.status == .online && session.outputs.isEmpty)
            session.advance(.seconds(14))
            #expect(session.published.isEmpty)
        }
    }

    @Test("The hub's keys come from the newest session.begin; absent keys differ from unusable ones")
    func tokenKeys() throws {
        let keys = (0..<2).map { _ in Curve25519.Signing.PrivateKey() }
        func given(_ key: Curve25519.Signing.PrivateKey) -> JSONValue {
            let x = Base64URL.encode(key.publicKey.rawRepresentation)
            return ["keys": [["kty": "OKP", "crv": "Ed25519", "x": .string(x)]]]
        }
        func signed(_ key: Curve25519.Signing.PrivateKey) throws -> String {
            let input = "e30." + Base64URL.encode(#"{"n":1}"#.utf8)
            return try input + "." + Base64URL.encode(key.signature(for: Data(input.utf8)))
        }
        var session = VirtualSession()
        #expect(session.machine.tokenKeys == nil)
        session.goOnline(tokenKeys: given(keys[0]))
        #expect(session.machine.tokenKeys?.payload(of: try signed(keys[0])) == ["n": 1])
        #expect(session.machine.tokenKeys?.payload(of: try signed(keys[1])) == nil)
        // Keys in any other answer are ignored.
        session.receive(LinkReply(id: "?", result: ["tokenKeys": given(keys[1])]))
        session.feed(.lost(IoTError(.linkUnavailable)))
        session.advance(.milliseconds(200))
        #expect(session.machine.tokenKeys?.payload(of: try signed(keys[0])) == ["n": 1])
        session.goOnline(tokenKeys: given(keys[1]))
        #expect(session.machine.tokenKeys?.payload(of: try signed(keys[1])) == ["n": 1], "the hub's key has changed")
        #expect(session.machine.tokenKeys?.payload(of: try signed(keys[0])) == nil)
        session = VirtualSession()
        session.goOnline(tokenKeys: ["keys": [["kty": "RSA"]]])
        let unusable = try #require(session.machine.tokenKeys)
        #expect(unusable.payload(of: try signed(keys[0])) == nil)
        session.feed(.lost(IoTError(.linkUnavailable)))
        session.advance(.milliseconds(200))
        session.goOnline()
        #expect(session.machine.tokenKeys == nil, "an earlier hub")
    }

    @Test("The device's owner is known before the session is online, and before a request that follows a new one")
    func ownership() throws {
        func numbers(_ outputs: [LinkSessionMachine.Output]) -> [Int64] {
            outputs.compactMap { if case .ownership(let number) = $0 { number } else { nil } }
        }
        var session = VirtualSession()
        session.feed(.register)
        session.connect()
        guard case .beginning(let beginning) = session.machine.phase else {
            Issue.record("no session.begin")
            return
        }
        session.receive(LinkReply(id: beginning.newest, result: ["t": .integer(session.wall), "ownership": 3]))
        #expect(numbers(session.outputs) == [3])
        guard case .ownership? = session.outputs.first else {
            Issue.record("the session is online before: \(session.outputs)")
            return
        }
        session.feed(.received(.push(DeviceMethod.owned.push(OwnedNotice(ownership: 4), t: session.wall))))
        #expect(numbers(session.outputs) == [4])
        session = VirtualSession.online()
        #expect(numbers(session.outputs).isEmpty, "an earlier hub")
    }

    @Test("After a lost connection the same session reconnects within the first pause of the back-off")
    func reconnect() {
        var session = VirtualSession.online()
        let before = session.machine.address
        session.advance(.seconds(12))
        session.feed(.lost(IoTError(.linkUnavailable)))
        #expect(session.statuses.map(\.status) == [.offline])
        session.advance(.milliseconds(200))
        #expect(session.connects == 1)
        #expect(session.statuses.isEmpty, "offline until it is online again")
        session.goOnline()
        #expect(session.machine.status.status == .online)
        #expect(session.machine.address == before)
    }

    @Test("The pause grows with losses in quick succession, and each second online takes one doubling back")
    func backoffRecovery() {
        func longest(online time: TimeAmount) -> TimeAmount {
            (1...50).map { pauseAfterFlapping(online: time, seed: $0) }.max() ?? .zero
        }
        #expect((.seconds(10)...(.milliseconds(12_800))).contains(longest(online: .milliseconds(999))))
        #expect((.seconds(2)...(.milliseconds(3_200))).contains(longest(online: .seconds(2))))
        #expect((.milliseconds(150)...(.milliseconds(200))).contains(longest(online: .seconds(6))))
    }

    /// Loses six connections as soon as they are online. Returns the pause after a seventh that lasted `time`.
    private func pauseAfterFlapping(online time: TimeAmount, seed: UInt64) -> TimeAmount {
        var session = VirtualSession.online(seed: seed)
        for _ in 0..<6 {
            session.feed(.lost(IoTError(.linkUnavailable)))
            guard let deadline = session.machine.nextDeadline else { return .zero }
            session.advance(deadline - session.now)
            session.goOnline()
        }
        session.advance(time)
        session.feed(.lost(IoTError(.linkUnavailable)))
        return (session.machine.nextDeadline ?? session.now) - session.now
    }

    @Test("A kicked session ignores time and tokens; register() begins a new session")
    func kick() {
        var session = VirtualSession.online()
        let old = session.machine.address
        session.feed(.received(.push(LinkPush(method: "session.kick"))))
        #expect(session.disconnects == 1)
        session.feed(.tokenUpdated)
        session.feed(.connected)
        #expect(session.outputs.isEmpty)
        session.feed(.register)
        #expect(session.connects == 1)
        #expect(session.machine.address.session != old.session)
        session.goOnline()
        #expect(session.machine.status.status == .online)
    }

    @Test("A new token registers a refused session again; an online one stays online")
    func tokenUpdate() {
        var session = VirtualSession()
        session.feed(.register)
        session.feed(.credentialsRefused(IoTError(.tokenRejected)))
        session.feed(.tokenUpdated)
        #expect(session.connects == 1)
        #expect(session.statuses.map(\.status) == [.registering])
        session.goOnline()
        session.feed(.tokenUpdated)
        #expect(session.statuses.isEmpty)
        #expect(session.disconnects == 0)
    }

    @Test("The status holds the reason for a kick", arguments: ["superseded", "removed", "revoked", "other"])
    func kickReasons(_ word: String) {
        var session = VirtualSession.online()
        session.feed(.received(.push(LinkPush(method: "session.kick", params: ["reason": .string(word)]))))
        let status = session.machine.status
        #expect(status.status == .kickOff)
        #expect(status.kick == (LinkKickReason(rawValue: word) ?? .unknown))
        #expect(status.reason?.message.contains(word) == true)
        session.feed(.register)
        #expect(session.machine.status.kick == nil)
    }

    @Test("Heartbeats are sent every 15 s; two without an answer end the connection at 45 s")
    func heartbeats() throws {
        var session = VirtualSession.online()
        for _ in 0..<10 {
            session.advance(.seconds(15))
            let heartbeat = try #require(session.publishedRequests.first)
            #expect(heartbeat.method == "session.heartbeat")
            session.receive(LinkReply(id: heartbeat.id, result: ["t": .integer(session.wall)]))
        }
        session.advance(.seconds(44))
        #expect(session.publishedRequests.count == 2)
        #expect(session.machine.status.status == .online)
        session.advance(.seconds(1))
        #expect(session.machine.status.status == .offline)
        #expect(session.disconnects == 1)
    }

    @Test("A heartbeat that refuses the token leads to tokenFailed, any other error to offline")
    func heartbeatRefused() throws {
        for (code, status) in [(ErrorCode.tokenRejected, LinkStatus.tokenFailed), (.notFound, .offline)] {
            var session = VirtualSession.online()
            session.advance(.seconds(15))
            let heartbeat = try #require(session.publishedRequests.first)
            session.receive(LinkReply(id: heartbeat.id, error: IoTError(code)))
            #expect(session.machine.status.status == status)
            #expect(session.disconnects == 1)
        }
    }

    @Test("Events of an older connection are ignored")
    func staleConnection() {
        var session = VirtualSession.online()
        session.feed(.lost(IoTError(.linkUnavailable)))
        session.advance(.milliseconds(200))
        session.goOnline()
        session.feed(.transport(attempt: 1, .lost(IoTError(.linkUnavailable))))
        session.feed(.transport(attempt: 1, .received(.push(LinkPush(method: "session.kick")))))
        #expect(session.machine.status.status == .online)
    }

    @Test("unregister() ends the session and stays offline")
    func unregister() {
        var session = VirtualSession.online()
        session.feed(.unregister)
        #expect(session.published.map(\.method) == ["session.end"])
        #expect(session.disconnects == 1)
        #expect(session.machine.status.cause == .unregistered)
        session.advance(.hours(1))
        #expect(session.outputs.isEmpty)
        session.feed(.register)
        #expect(session.connects == 1)
    }

    @Test("stop ends the session, waits for the end of the connection, and is final")
    func stop() {
        var session = VirtualSession.online()
        session.request("a")
        session.feed(.stop)
        #expect(
            session.published == [.push(LinkPush(method: "session.end", params: ["reason": "left"], t: session.wall))])
        #expect(session.disconnects == 1)
        #expect(session.failure(of: "a") == .stopping)
        #expect(!session.isFinished)
        session.feed(.closed)
        #expect(session.isFinished)
        session.request("b")
        #expect(session.failure(of: "b") == .stopping)
        session.feed(.register)
        #expect(session.outputs.isEmpty)
    }

    @Test("stop finishes after 2 s even if the connection does not end, and at once without a connection")
    func stopAlone() {
        var session = VirtualSession.online()
        session.feed(.stop)
        session.advance(.seconds(2))
        #expect(session.isFinished)
        var idle = VirtualSession()
        idle.feed(.stop)
        #expect(idle.isFinished)
    }

    @Test("A slow answer does not change a clock that agrees with it")
    func slowAnswer() throws {
        var session = VirtualSession()
        session.feed(.register)
        session.connect()
        session.advance(.seconds(8))
        session.answerBegin()
        session.request("a")
        #expect(session.publishedRequests.first?.t == session.wall)
    }

    @Test("t and deadline are on the hub's clock, even if ours is an hour wrong")
    func clock() throws {
        var session = VirtualSession()
        session.feed(.register)
        session.connect()
        session.answerBegin(hubTime: session.wall + 3_600_000)
        session.request("a", timeout: .seconds(5))
        let request = try #require(session.publishedRequests.first)
        #expect(request.t == session.wall + 3_600_000)
        #expect(request.deadline == request.t + 5000)
        session.receive(session.incoming("x", deadline: session.wall + 3_601_000))
        #expect(session.executed.count == 1)
        session.receive(session.incoming("y", deadline: session.wall + 3_599_000))
        #expect(session.executed.isEmpty)
    }
}

extension LinkSessionMachineTests {
    @Test("The client id is 128 random bits that are in no topic or message; each registration has its own")
    func clientID() throws {
        var session = VirtualSession.online()
        let first = session.machine.clientID
        #expect(first.count == 32 && DeviceID(rawValue: first) != nil)
        #expect(!session.machine.address.upTopic.contains(first) && !first.contains(session.machine.address.session))
        session.feed(.lost(IoTError(.linkUnavailable)))
        #expect(session.machine.clientID == first, "the next connection ends what remains of the lost one")
        session.feed(.unregister)
        session.feed(.register)
        #expect(session.machine.clientID != first)
    }
}

struct Unexpected: Error {}

extension Envelope {
    var method: String? {
        switch self {
        case .request(let request): request.method
        case .push(let push): push.method
        case .reply: nil
        }
    }
}
