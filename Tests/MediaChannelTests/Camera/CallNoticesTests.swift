import IoTCore
import IoTLink
import Testing

@testable import MediaChannel

@Suite(.timeLimit(.minutes(1))) struct CallNoticesTests {
    /// What callers were told, and a caller that never answers.
    private struct Callers {
        let told: AsyncStream<String>
        let notices: CallNotices
        /// Nothing ever comes of it; a task that waits for it ends when it is cancelled.
        private let silence = AsyncStream.makeStream(of: Void.self)

        init(silent: String) {
            let (told, continuation) = AsyncStream.makeStream(of: String.self)
            self.told = told
            notices = CallNotices { [silence] _, params in
                let peer = params["peer"]?.stringValue ?? ""
                continuation.yield("\(peer) \(params["candidate"]?.stringValue ?? "end")")
                if peer == silent { for await _ in silence.stream {} }
            }
        }
    }

    @Test("A caller that does not answer holds up neither other callers' candidates nor their endings")
    func silentCaller() async {
        let callers = Callers(silent: "u/silent")
        let notices = callers.notices
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await notices.run() }
            let silent = notices.candidates(peer: "u/silent", peerSession: nil, session: "1")
            let other = notices.candidates(peer: "u/other", peerSession: nil, session: "2")
            var told = callers.told.makeAsyncIterator()
            silent.tell("candidate:1")
            silent.tell("candidate:2")
            #expect(await told.next() == "u/silent candidate:1")
            other.tell("candidate:3")
            #expect(await told.next() == "u/other candidate:3")
            notices.end(peer: "u/other", session: "2", reason: IoTError(.hungUp))
            #expect(await told.next() == "u/other end")
            other.tell("candidate:4")
            other.tell("")
            other.tell("candidate:5")
            #expect(await told.next() == "u/other candidate:4")
            #expect(await told.next() == "u/other ")
            // Nothing comes behind the end of candidates: the next word is of another caller.
            notices.candidates(peer: "u/third", peerSession: nil, session: "3").tell("candidate:6")
            #expect(await told.next() == "u/third candidate:6")
            group.cancelAll()
        }
    }

    @Test("What a caller is told names the call as the caller knows it")
    func params() async {
        let (told, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        let notices = CallNotices { method, params in
            continuation.yield(["method": .string(method), "params": params])
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await notices.run() }
            var iterator = told.makeAsyncIterator()
            let feed = notices.candidates(peer: "u/owner", peerSession: .string("phone"), session: "7")
            feed.tell("candidate:1")
            #expect(
                await iterator.next() == [
                    "method": .string(CallMethod.trickle.name),
                    "params": ["peer": "u/owner", "peerSession": "phone", "session": "7", "candidate": "candidate:1"],
                ])
            notices.end(peer: "u/owner", session: "7", reason: IoTError(.hungUp, "the camera is off"))
            #expect(
                await iterator.next() == [
                    "method": .string(CallMethod.end.name),
                    "params": [
                        "peer": "u/owner", "session": "7",
                        "code": .integer(Int64(ErrorCode.hungUp.rawValue)), "message": "the camera is off",
                    ],
                ])
            group.cancelAll()
        }
    }
}
