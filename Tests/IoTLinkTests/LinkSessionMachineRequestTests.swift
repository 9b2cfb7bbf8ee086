import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import IoTLink

@Suite("Requests and answers of the link session, in virtual time")
struct LinkSessionMachineRequestTests {
    @Test("A request gets its answer; a second answer is counted as unexpected")
    func answer() {
        var session = VirtualSession.online()
        session.request("a")
        #expect(session.publishedRequests.map(\.id) == ["a"])
        session.receive(LinkReply(id: "a", result: 7))
        session.receive(LinkReply(id: "a", result: 8))
        #expect(session.completed["a"]?.count == 1)
        #expect(session.result(of: "a") == 7)
        #expect(session.machine.counters.unexpectedReplies == 1)
    }

    @Test("A refusal keeps its code, message and result")
    func refusal() throws {
        var session = VirtualSession.online()
        session.request("a")
        session.receive(LinkReply(id: "a", code: .versionConflict, message: "too late", result: ["version": 9]))
        guard case .failure(let error)? = session.completed["a"]?.first else { throw Unexpected() }
        #expect(error.code == .versionConflict)
        #expect(error.message == "too late")
        #expect((error.underlying as? LinkRefusal)?.result == ["version": 9])
    }

    @Test("Without an answer a request fails with 21002, exactly at its deadline")
    func deadline() {
        var session = VirtualSession.online()
        session.request("a", timeout: .seconds(5))
        session.request("b", timeout: .seconds(3))
        session.advance(.milliseconds(2999))
        #expect(session.completed.isEmpty)
        session.advance(.milliseconds(1))
        #expect(session.failure(of: "b") == .messageTimeout)
        #expect(session.completed["a"] == nil)
        session.advance(.seconds(2))
        #expect(session.failure(of: "a") == .messageTimeout)
        session.receive(LinkReply(id: "a"))
        #expect(session.machine.counters.unexpectedReplies == 1)
    }

    @Test("Requests made while registering wait and are sent in order, with the rest of their time")
    func waitForOnline() {
        var session = VirtualSession()
        session.feed(.register)
        for id in ["c", "a", "b"] { session.request(id, timeout: .seconds(8)) }
        #expect(session.publishedRequests.isEmpty)
        session.connect()
        session.advance(.seconds(2))
        session.answerBegin()
        #expect(session.publishedRequests.map(\.id) == ["c", "a", "b"])
        #expect(session.publishedRequests.allSatisfy { $0.deadline == session.wall + 6000 })
        #expect(session.machine.counters.resentRequests == 0)
    }

    @Test("A request with a deadline that passes while offline fails with 21002 and is never sent")
    func expireOffline() {
        var session = VirtualSession.online()
        session.feed(.lost(IoTError(.linkUnavailable)))
        session.request("a", timeout: .milliseconds(1))
        session.advance(.milliseconds(200))
        #expect(session.failure(of: "a") == .messageTimeout)
        session.goOnline()
        #expect(session.publishedRequests.isEmpty)
    }

    @Test("A request without an answer is resent with its id after a lost connection, and completes once")
    func resend() {
        var session = VirtualSession.online()
        session.request("a", timeout: .seconds(5))
        session.feed(.lost(IoTError(.linkUnavailable)))
        #expect(session.completed.isEmpty)
        session.advance(.milliseconds(200))
        session.goOnline()
        #expect(session.publishedRequests.map(\.id) == ["a"])
        #expect(session.machine.counters.resentRequests == 1)
        session.receive(LinkReply(id: "a", result: 1))
        session.receive(LinkReply(id: "a", result: 1))
        #expect(session.completed["a"]?.count == 1)
    }

    @Test("A request without an answer is resent with its id after 3, 6 and 12 s more, until it is answered")
    func repeats() {
        var session = VirtualSession.online()
        session.request("a", timeout: .seconds(60))
        session.request("b", timeout: .seconds(5))
        var ids: [[String]] = []
        for pause in [2_999, 1, 5_999, 1, 11_999, 1] {
            session.advance(.milliseconds(Int64(pause)))
            ids.append(session.publishedRequests.filter { $0.method == "test.ask" }.map(\.id))
        }
        #expect(ids == [[], ["a", "b"], [], ["a"], [], ["a"]])
        #expect(session.failure(of: "b") == .messageTimeout)
        #expect(session.machine.counters.repeatedOwnRequests == 4)
        #expect(session.machine.counters.resentRequests == 0)
        session.receive(LinkReply(id: "a", result: 1))
        session.advance(.seconds(30))
        #expect(session.publishedRequests.allSatisfy { $0.method != "test.ask" })
        #expect(session.completed["a"]?.count == 1)
    }

    @Test("After the first of several answers a request is not resent, because the hub does not keep them all")
    func repeatsOfMany() {
        var session = VirtualSession.online()
        session.request("a", timeout: .seconds(60), many: true)
        session.receive(LinkReply(id: "a", result: 1, seq: 0, final: false))
        session.advance(.seconds(30))
        #expect(session.machine.counters.repeatedOwnRequests == 0)
        #expect(session.completed["a"] == nil)
    }

    @Test("When the hub forgot the session, it is begun again and the request is resent once")
    func disowned() {
        var session = VirtualSession.online()
        session.request("a", timeout: .seconds(30))
        session.receive(LinkReply(id: "a", code: .linkUnavailable, message: "begin it first"))
        #expect(session.completed.isEmpty)
        #expect(session.machine.status.status == .offline)
        #expect(session.disconnects == 1)
        session.advance(.milliseconds(200))
        session.goOnline()
        #expect(session.publishedRequests.map(\.id) == ["a"])
        session.receive(LinkReply(id: "a", code: .linkUnavailable))
        #expect(session.failure(of: "a") == .linkUnavailable)
        #expect(session.machine.status.status == .online)
    }

    @Test("A handler's own 21025 is not mistaken for the hub's")
    func handlerUnavailable() {
        var session = VirtualSession.online()
        session.receive(session.incoming("x"))
        session.feed(.handled(session.executed[0], .failure(IoTError(.linkUnavailable, "why"))))
        #expect(session.publishedReplies == [LinkReply(id: "x", code: .internalFailure, message: "why")])
    }

    @Test("Unregistered, refused and kicked sessions fail new and waiting requests at once with 21025")
    func unavailable() {
        var session = VirtualSession()
        session.request("early")
        #expect(session.failure(of: "early") == .linkUnavailable)

        session.feed(.register)
        session.request("waiting")
        session.feed(.credentialsRefused(IoTError(.tokenRejected)))
        #expect(session.failure(of: "waiting") == .linkUnavailable)
        session.request("refused")
        #expect(session.failure(of: "refused") == .linkUnavailable)

        session.feed(.register)
        session.goOnline()
        session.request("pending")
        session.feed(.received(.push(LinkPush(method: "session.kick"))))
        session.request("kicked")
        #expect(session.failure(of: "pending") == .linkUnavailable)
        #expect(session.failure(of: "kicked") == .linkUnavailable)
    }

    @Test("The number of requests is bounded, and only one request with an id can wait")
    func bounds() {
        var limits = LinkLimits()
        limits.pendingRequests = QuotaBound(total: 3, each: 3)
        var session = VirtualSession.online(limits: limits)
        for id in ["a", "b", "c", "d"] { session.request(id) }
        #expect(session.failure(of: "d") == .tooManyRequests)
        session.receive(LinkReply(id: "a"))
        session.request("b")
        #expect(session.failure(of: "b") == .duplicateMessage)
        session.request("e")
        #expect(session.completed["e"] == nil)
    }

    @Test("One account with many unanswered requests leaves room for others, and for our own requests")
    func fairness() {
        var session = VirtualSession.online()
        let each = session.machine.limits.pendingRequests.each
        let greedy = Principal("u/greedy")
        for number in 0..<600 { session.request("greedy.\(number)", as: greedy) }
        #expect(session.completed.count == 600 - each)
        #expect(session.failure(of: "greedy.\(each)") == .tooManyRequests)
        session.request("other", as: Principal("u/other"))
        #expect(session.completed["other"] == nil)

        // Many accounts together can use all but the reserve.
        for account in 0..<40 {
            for number in 0..<each { session.request("\(account).\(number)", as: Principal("u/a\(account)")) }
        }
        #expect(session.machine.pending.count == 384)
        session.request("own")
        #expect(session.completed["own"] == nil)

        // A request gives its part back, however it ends.
        session.receive(LinkReply(id: "greedy.0"))
        session.feed(.cancel(id: "greedy.1"))
        for name in ["c", "d", "e"] { session.request(name, as: greedy) }
        #expect(session.completed["c"] == nil && session.completed["d"] == nil)
        #expect(session.failure(of: "e") == .tooManyRequests)
        session.advance(.seconds(6))
        session.request("f", as: greedy)
        #expect(session.completed["f"] == nil)
    }

    @Test("A request that is too large for an envelope fails with 25013, and the session stays online")
    func tooLarge() {
        var session = VirtualSession.online()
        let text = JSONValue.string(String(repeating: "x", count: Envelope.maximumSize))
        session.feed(
            .request(
                PendingRequests.Entry(
                    id: "a", method: "m", params: text, deadline: session.now + .seconds(1), takesMany: false)))
        #expect(session.failure(of: "a") == .payloadTooLarge)
        #expect(session.machine.status.status == .online)
    }

    @Test("A cancelled request is forgotten")
    func cancel() {
        var session = VirtualSession.online()
        session.request("a")
        session.feed(.cancel(id: "a"))
        session.feed(.cancel(id: "a"))
        #expect(session.completed["a"]?.count == 1)
        #expect(session.failure(of: "a") == .sendFailed)
    }

    @Test("Several answers arrive in order, each once, and end with the final one")
    func severalAnswers() {
        var session = VirtualSession.online()
        session.request("a", many: true)
        var answers: [JSONValue] = []
        func take(_ session: VirtualSession) {
            for case .answer(_, let value) in session.outputs { answers.append(value) }
        }
        for (seq, result) in [(0, 10), (0, 10), (1, 11), (0, 10), (2, 12)] as [(Int, JSONValue)] {
            session.receive(LinkReply(id: "a", result: result, seq: seq, final: false))
            take(session)
        }
        session.receive(LinkReply(id: "a", result: 13, seq: 3, final: true))
        #expect(answers == [10, 11, 12])
        #expect(session.result(of: "a") == 13)
    }

    @Test("A missing one of several answers ends the request with an error")
    func missingAnswer() {
        var session = VirtualSession.online()
        session.request("a", many: true)
        session.receive(LinkReply(id: "a", seq: 0, final: false))
        session.receive(LinkReply(id: "a", seq: 2, final: false))
        #expect(session.failure(of: "a") == .sendFailed)
    }

    @Test("A caller of one answer gets the final one of several")
    func finalAnswer() {
        var session = VirtualSession.online()
        session.request("a")
        session.receive(LinkReply(id: "a", result: 1, seq: 0, final: false))
        #expect(session.completed.isEmpty)
        session.receive(LinkReply(id: "a", result: 2, seq: 1, final: true))
        #expect(session.result(of: "a") == 2)
    }

    // MARK: Requests of others

    @Test("A request of the hub runs once; a repeated request gets the same answer, byte for byte")
    func incoming() {
        var session = VirtualSession.online()
        let request = session.incoming("x")
        session.receive(request)
        #expect(session.executed.count == 1)
        let key = session.executed[0]
        session.receive(request)
        #expect(session.outputs.isEmpty, "the request is running")
        session.feed(.handled(key, .success(["value": 1])))
        #expect(session.publishedReplies == [LinkReply(id: "x", result: ["value": 1])])
        session.feed(.handled(key, .success(["value": 2])))
        #expect(session.outputs.isEmpty)
        session.receive(request)
        #expect(session.executed.isEmpty)
        #expect(session.publishedReplies == [LinkReply(id: "x", result: ["value": 1])])
        #expect(session.machine.counters.repeatedRequests == 2)
    }

    @Test("Answers are remembered for ten minutes")
    func memory() {
        var limits = LinkLimits()
        limits.heartbeatInterval = .hours(1)
        var session = VirtualSession.online(limits: limits)
        let request = session.incoming("x", deadline: session.wall + 86_400_000)
        session.receive(request)
        session.feed(.handled(session.executed[0], .success(1)))
        session.advance(.seconds(599))
        session.receive(request)
        #expect(session.publishedReplies.count == 1)
        session.advance(.seconds(1))
        session.receive(request)
        #expect(session.executed.count == 1)
    }

    @Test(
        "A principal with many requests loses only its own oldest answers, and no other request is executed twice",
        arguments: [(2_000, 0), (40, 200_000)])
    func flood(count: Int, size: Int) {
        var session = VirtualSession.online()
        let action = session.incoming("x", from: Principal("u/owner"), deadline: session.wall + 60_000)
        session.receive(action)
        session.feed(.handled(session.executed[0], .success(1)))
        let answer = JSONValue.string(String(repeating: "y", count: size))
        func asked(_ number: Int) -> LinkRequest { session.incoming("\(number)", from: Principal("u/guest")) }
        for number in 0..<count {
            session.receive(asked(number))
            session.feed(.handled(session.executed[0], .success(answer)))
        }
        session.receive(action)
        #expect(session.executed.isEmpty)
        #expect(session.publishedReplies == [LinkReply(id: "x", result: 1)])
        session.receive(asked(count - 1))
        #expect(session.executed.isEmpty, "its newest request is remembered")
        session.receive(asked(0))
        #expect(session.executed.count == 1, "its oldest request is not")
    }

    @Test("Two principals may use the same id")
    func sameIDFromTwo() {
        var session = VirtualSession.online()
        session.receive(session.incoming("x", from: Principal("u/anna")))
        #expect(session.executed.count == 1)
        session.receive(session.incoming("x", from: Principal("u/berta")))
        #expect(session.executed.count == 1)
    }

    @Test("A request is not executed after its deadline, whatever the number is")
    func incomingExpired() {
        var session = VirtualSession.online()
        for deadline in [session.wall, session.wall - 1, 0, -1, .min] {
            session.receive(session.incoming("x", deadline: deadline))
            #expect(session.outputs.isEmpty)
        }
        #expect(session.machine.counters.expiredRequests == 5)
        session.receive(session.incoming("y", deadline: .max))
        #expect(session.executed.count == 1)
    }

    @Test("Setting our own clock does not affect deadlines, which are on the hub's clock", arguments: [-1, 1])
    func clockStep(direction: Int64) {
        var session = VirtualSession.online()
        let hubTime = session.wall
        session.wall += direction * 3_600_000
        session.receive(session.incoming("x", deadline: hubTime + 5_000))
        #expect(session.executed.count == 1)
        session.receive(session.incoming("y", deadline: hubTime))
        #expect(session.executed.isEmpty && session.machine.counters.expiredRequests == 1)
        session.advance(.seconds(2))
        #expect(session.machine.hubTime(at: session.now, wall: session.wall) == hubTime + 2_000)
        session.request("z", timeout: .seconds(5))
        #expect(session.publishedRequests.map(\.t) == [hubTime + 2_000])
        #expect(session.publishedRequests.map(\.deadline) == [hubTime + 7_000])
    }

    @Test("A request above the bound is answered with 25024, and can be repeated later")
    func concurrency() {
        var limits = LinkLimits()
        limits.runningRequests = 2
        var session = VirtualSession.online(limits: limits)
        var keys: [RememberedAnswers.Key] = []
        for id in ["a", "b"] {
            session.receive(session.incoming(id))
            keys += session.executed
        }
        session.receive(session.incoming("c"))
        #expect(session.publishedReplies.map(\.code) == [.tooManyRequests])
        session.feed(.handled(keys[0], .success(.null)))
        session.receive(session.incoming("c"))
        #expect(session.executed.count == 1)
    }

    @Test("An answer that is ready while offline is sent when online again, unless its deadline passed")
    func answerOffline() {
        var session = VirtualSession.online()
        session.receive(session.incoming("soon", deadline: session.wall + 100))
        let soon = session.executed[0]
        session.receive(session.incoming("later", deadline: session.wall + 60_000))
        let later = session.executed[0]
        session.feed(.lost(IoTError(.linkUnavailable)))
        session.feed(.handled(soon, .success(1)))
        session.feed(.handled(later, .success(2)))
        #expect(session.published.isEmpty)
        session.advance(.milliseconds(200))
        session.goOnline()
        #expect(session.publishedReplies.map(\.id) == ["later"])
    }

    @Test("An answer that is too large for an envelope becomes 25013")
    func answerTooLarge() {
        var session = VirtualSession.online()
        session.receive(session.incoming("x"))
        let text = String(repeating: "x", count: Envelope.maximumSize)
        session.feed(.handled(session.executed[0], .success(.string(text))))
        #expect(session.publishedReplies.map(\.code) == [.payloadTooLarge])
    }

    @Test("With events in any order, each request completes exactly once", arguments: 1...20 as ClosedRange<UInt64>)
    func disorder(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var session = VirtualSession(seed: seed)
        var asked: [String] = []
        var running: [RememberedAnswers.Key] = []
        let error = IoTError(.linkUnavailable)
        for step in 0..<3000 {
            switch Int.random(in: 0..<22, using: &random) {
            case 0: session.feed(.register)
            case 1: if step % 10 == 0 { session.feed(.unregister) }
            case 2: session.feed(.tokenUpdated)
            case 3, 4: session.connect()
            case 5, 6: session.answerBegin(hubTime: Int64.random(in: .min ... .max, using: &random))
            case 7: session.feed(.lost(error))
            case 8: if step % 5 == 0 { session.feed(.credentialsRefused(error)) }
            case 9: if step % 5 == 0 { session.feed(.received(.push(LinkPush(method: "session.kick")))) }
            case 10, 11, 12:
                asked.append("r\(step)")
                session.request("r\(step)", timeout: .milliseconds(.random(in: 0...20_000, using: &random)))
            case 13, 14:
                let seq = Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil
                if let id = asked.randomElement(using: &random) {
                    session.receive(LinkReply(id: id, seq: seq, final: .random(using: &random)))
                }
            case 15, 16:
                session.receive(
                    session.incoming(
                        "i\(Int.random(in: 0...200, using: &random))",
                        deadline: .random(in: .min ... .max, using: &random)))
                running += session.executed
            case 17: if let key = running.popLast() { session.feed(.handled(key, .success(.null))) }
            case 18: if let id = asked.randomElement(using: &random) { session.feed(.cancel(id: id)) }
            case 19: session.feed(.connected)
            case 20: session.feed(.transport(attempt: Int.random(in: 0...50, using: &random), .closed))
            default: session.advance(.milliseconds(.random(in: 0...20_000, using: &random)))
            }
        }
        session.feed(.stop)
        session.advance(.seconds(30))
        #expect(asked.count > 100)
        for id in asked { #expect(session.completed[id]?.count == 1, "\(id)") }
        #expect(session.machine.nextDeadline == nil)
    }
}
