import IoTCore
import IoTLink
import Testing

@testable import MediaChannel

@Suite(.timeLimit(.minutes(1))) struct CallNoticesTests {
    /// The notices that callers got; one caller never answers.
    private struct Callers {
        let received: AsyncStream<String>
        let notices: CallNotices
        /// Never yields; a task that waits for it ends when it is cancelled.
        private let silence = AsyncStream.makeStream(of: Void.self)

        init(silent: String) {
            let (received, continuation) = AsyncStream.makeStream(of: String.self)
            self.received = received
            notices = CallNotices { [silence] notice in
                let (peer, text) =
                    switch notice {
                    case .ending(let ending): (ending.route.peer.description, "end")
                    case .candidate(let message): (message.route.peer.description, message.candidate)
                    }
                continuation.yield("\(peer) \(text)")
                if peer == silent { for await _ in silence.stream {} }
            }
        }
    }

    private func route(_ peer: String, _ session: String, peerSession: String? = nil) throws -> CallRoute {
        CallRoute(peer: try #require(Principal(peer)), session: session, peerSession: peerSession)
    }

    @Test("A caller that does not answer delays neither other callers' candidates nor their endings")
    func silentCaller() async throws {
        let callers = Callers(silent: "u/silent")
        let notices = callers.notices
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await notices.run() }
            let silent = notices.candidates(try route("u/silent", "1"))
            let other = notices.candidates(try route("u/other", "2"))
            var received = callers.received.makeAsyncIterator()
            silent.tell("candidate:1")
            silent.tell("candidate:2")
            #expect(await received.next() == "u/silent candidate:1")
            other.tell("candidate:3")
            #expect(await received.next() == "u/other candidate:3")
            notices.end(try route("u/other", "2"), reason: IoTError(.hungUp))
            #expect(await received.next() == "u/other end")
            other.tell("candidate:4")
            other.tell("")
            other.tell("candidate:5")
            #expect(await received.next() == "u/other candidate:4")
            #expect(await received.next() == "u/other ")
            // Nothing follows the end of candidates: the next notice is for another caller.
            notices.candidates(try route("u/third", "3")).tell("candidate:6")
            #expect(await received.next() == "u/third candidate:6")
            group.cancelAll()
        }
    }

    @Test("A notice names the call by the caller's identifiers")
    func params() async throws {
        let (received, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        let notices = CallNotices { notice in
            switch notice {
            case .ending(let ending): continuation.yield(ending.json)
            case .candidate(let candidate): continuation.yield(candidate.json)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await notices.run() }
            var iterator = received.makeAsyncIterator()
            let feed = notices.candidates(try route("u/owner", "7", peerSession: "phone"))
            feed.tell("candidate:1")
            #expect(
                await iterator.next() == [
                    "peer": "u/owner", "peerSession": "phone", "session": "7", "candidate": "candidate:1",
                ])
            notices.end(try route("u/owner", "7"), reason: IoTError(.hungUp, "the camera is off"))
            #expect(
                await iterator.next() == [
                    "peer": "u/owner", "session": "7",
                    "code": .integer(Int64(ErrorCode.hungUp.rawValue)), "message": "the camera is off",
                ])
            group.cancelAll()
        }
    }
}
