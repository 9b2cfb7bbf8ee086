import IoTCore
import MediaTestSupport
import NIOCore
import Testing

@testable import MediaChannel

/// Data between a caller and a camera over a real SCTP association, in virtual time.
@Suite struct DataChannelTests {
    private static let bad = VirtualLink<ByteBuffer>.Configuration(
        delay: .milliseconds(25), jitter: .milliseconds(30), loss: 0.05, seed: 7)
    private static let clean = VirtualLink<ByteBuffer>.Configuration(delay: .milliseconds(5), seed: 7)

    private func failure<Value>(_ result: Result<Value, IoTError>) -> ErrorCode? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test("10,000 messages arrive in order over a link with 5 % loss, and the sender waits for a slow reader")
    func order() throws {
        let call = try VirtualDataCall(Self.bad)
        let program = try call.camera.listen()
        var (sent, isWaiting) = (0, false)
        var received: [Int] = []
        var failed: (any Error)?
        // The next message is sent when the one before was taken.
        func send() {
            while !isWaiting, failed == nil, sent < 10_000 {
                var bytes = ByteBuffer(integer: UInt32(sent))
                // Some are long.
                if sent % 1_000 == 0 { bytes.writeRepeatingByte(1, count: DataFrame.maximumData - 4) }
                sent += 1
                isWaiting = true
                call.client.send(bytes, patience: .seconds(60)).assumeIsolated().whenComplete { result in
                    isWaiting = false
                    if case .failure(let error) = result { failed = error }
                }
            }
        }
        // Nobody reads at first: the sender stops after one window.
        try call.run(
            until: {
                send()
                return false
            }, atMost: .seconds(5))
        #expect(sent < 3_000, "\(sent) messages were taken before one was read")
        #expect(sent > 1_000)
        try call.run(
            until: {
                send()
                for case .message(_, var bytes) in call.taken(program, atMost: 400) {
                    received.append(bytes.readInteger(as: UInt32.self).map(Int.init) ?? -1)
                }
                return received.count == 10_000 || failed != nil
            }, atMost: .seconds(600))
        #expect(failed == nil && received == Array(0..<10_000))
        #expect(call.lostDatagrams > 50, "the link lost nothing")
    }

    @Test("64,000 bytes pass in both directions; one more is refused with 21024")
    func size() throws {
        let call = try VirtualDataCall(Self.clean)
        let program = try call.camera.listen()
        let bytes = ByteBuffer(repeating: 0xA5, count: 64_000)
        _ = try call.outcome(of: call.client.send(bytes, patience: .seconds(5))).get()
        let listening = try call.client.listen()
        try call.run(until: { program.count == 2 && call.server.callerListens }, atMost: .seconds(5))
        guard case .message(_, let got)? = call.taken(program).last else { return #expect(Bool(false)) }
        #expect(got == bytes)
        _ = try call.outcome(of: call.server.send(bytes, patience: .seconds(5))).get()
        try call.run(until: { listening.count == 1 }, atMost: .seconds(5))
        #expect(call.taken(listening) == [bytes])
        let long = ByteBuffer(repeating: 0, count: 64_001)
        #expect(failure(try call.outcome(of: call.client.send(long, patience: .seconds(5)))) == .dataTooLong)
        #expect(throws: IoTError.self) { try call.client.ask(long, .one, timeout: .seconds(5)) }
        #expect(throws: IoTError.self) { try call.camera.sendToAll(long, patience: .seconds(5)) }
    }

    @Test("Requests are answered one after the other under loss, with one or many responses")
    func serial() throws {
        let call = try VirtualDataCall(Self.bad)
        let program = try call.camera.listen()
        let queues = try (0..<20).map { index in
            try call.client.ask(
                ByteBuffer(string: "q\(index)"), index % 2 == 0 ? .one : .many, timeout: .seconds(300))
        }
        var asked: [String] = []
        let isDone = { queues.allSatisfy { $0.hasEnded } }
        try call.run(
            until: {
                let requests = call.taken(program).compactMap { event -> (UInt32, DataResponses, String)? in
                    guard case .request(_, let number, let responses, let bytes) = event else { return nil }
                    return (number, responses, String(buffer: bytes))
                }
                // The next one comes only when this one has been answered.
                #expect(requests.count <= 1)
                for (number, responses, text) in requests {
                    asked.append(text)
                    for part in 0..<(responses == .one ? 1 : 5) {
                        _ = try? call.server.respond(
                            number, ByteBuffer(string: "\(text)/\(part)"), isLast: part == 4, patience: .seconds(60))
                    }
                }
                return isDone()
            }, atMost: .seconds(200))
        #expect(asked == (0..<20).map { "q\($0)" })
        for (index, queue) in queues.enumerated() {
            let expected = (0..<(index % 2 == 0 ? 1 : 5)).map { "q\(index)/\($0)" }
            #expect(call.taken(queue).map { String(buffer: $0) } == expected)
        }
        #expect(call.lostDatagrams > 5)
    }

    @Test("A caller that has finished ends its request: the program is told, and its later responses are refused")
    func finish() throws {
        let call = try VirtualDataCall(Self.clean)
        let program = try call.camera.listen()
        let first = try call.client.ask(ByteBuffer(string: "watch"), .many, timeout: .seconds(60))
        let second = try call.client.ask(ByteBuffer(string: "next"), .one, timeout: .seconds(60))
        try call.run(until: { program.count == 2 }, atMost: .seconds(5))
        _ = call.taken(program)
        _ = try call.server.respond(1, ByteBuffer(string: "a"), isLast: false, patience: .seconds(5))
        try call.run(until: { first.count == 1 }, atMost: .seconds(5))
        first.leave()
        try call.run(until: { program.count == 2 }, atMost: .seconds(5))
        let events = call.taken(program)
        guard case .finished(_, 1)? = events.first, case .request(_, 2, .one, _)? = events.last else {
            return #expect(Bool(false), "\(events)")
        }
        #expect(throws: IoTError.self) {
            try call.server.respond(1, ByteBuffer(string: "b"), isLast: false, patience: .seconds(5))
        }
        try call.server.refuse(2, IoTError(.deviceBusy, "later"))
        let refused = try call.outcome(of: second.next(within: nil))
        guard case .failure(let error) = refused else { return #expect(Bool(false)) }
        #expect(error.code == .deviceBusy && error.message == "later")
    }

    @Test("Without a program, messages and requests fail with 25057; with its end, so do open requests")
    func nobody() throws {
        let call = try VirtualDataCall(Self.clean)
        #expect(
            failure(try call.outcome(of: call.client.send(ByteBuffer(string: "x"), patience: .seconds(5))))
                == .nobodyListens)
        let early = try call.client.ask(ByteBuffer(string: "x"), .one, timeout: .seconds(5))
        #expect(failure(try call.outcome(of: early.next(within: nil))) == .nobodyListens)
        let program = try call.camera.listen()
        #expect(throws: IoTError.self, "a second program") { try call.camera.listen() }
        try call.run(until: { false }, atMost: .milliseconds(100))
        let open = try call.client.ask(ByteBuffer(string: "x"), .one, timeout: .seconds(60))
        try call.run(until: { program.count == 2 }, atMost: .seconds(5))
        program.leave()
        #expect(failure(try call.outcome(of: open.next(within: nil))) == .nobodyListens)
        _ = try call.camera.listen()
        // The device's messages need a listener, too.
        #expect(
            failure(try call.outcome(of: call.server.send(ByteBuffer(string: "x"), patience: .seconds(5))))
                == .nobodyListens)
    }

    @Test("A program that reads nothing stops its senders; they fail with 21002 and go on when it reads again")
    func patience() throws {
        let call = try VirtualDataCall(Self.clean)
        let program = try call.camera.listen()
        let bytes = ByteBuffer(repeating: 1, count: 64_000)
        for _ in 0..<4 { _ = try call.outcome(of: call.client.send(bytes, patience: .seconds(5))).get() }
        #expect(failure(try call.outcome(of: call.client.send(bytes, patience: .seconds(5)))) == .messageTimeout)
        try call.run(until: { program.count == 5 }, atMost: .seconds(5))
        #expect(program.count == 5, "the call's begin and four messages: one window")
        _ = call.taken(program)
        _ = try call.outcome(of: call.client.send(bytes, patience: .seconds(5))).get()
        // At most 64 wait.
        let waiting = (0..<80).map { _ in call.client.send(bytes, patience: .seconds(30)) }
        #expect(failure(try call.outcome(of: waiting[79])) == .tooManyRequests)
    }

    @Test("The end of the connection ends listeners, requests and senders")
    func end() throws {
        let call = try VirtualDataCall(Self.clean)
        let program = try call.camera.listen()
        let listening = try call.client.listen()
        let open = try call.client.ask(ByteBuffer(string: "x"), .one, timeout: .seconds(60))
        try call.run(until: { program.count == 2 }, atMost: .seconds(5))
        call.client.end(IoTError(.hungUp))
        call.server.close(isLeaving: false)
        #expect(failure(try call.outcome(of: listening.next(within: nil))) == .hungUp)
        #expect(failure(try call.outcome(of: open.next(within: nil))) == .hungUp)
        #expect(failure(try call.outcome(of: call.client.send(ByteBuffer(), patience: .seconds(1)))) == .hungUp)
        guard case .closed? = call.taken(program).last else { return #expect(Bool(false)) }
    }
}
