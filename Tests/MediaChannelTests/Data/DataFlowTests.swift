import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

@Suite struct DataFlowTests {
    @Test("Every kind of frame is read as it was written; the bytes are those of the document")
    func frames() throws {
        let data = ByteBuffer(string: "hi")
        let frames: [(DataFrame, [UInt8])] = [
            (.message(data), [0, 0x68, 0x69]),
            (.request(number: 258, responses: .many, data), [1, 0, 0, 1, 2, 2, 0x68, 0x69]),
            (.response(number: 3, isLast: true, data), [2, 0, 0, 0, 3, 1, 0x68, 0x69]),
            (.end(number: 4), [3, 0, 0, 0, 4]),
            (.failure(number: 5, code: .nobodyListens, "no"), [4, 0, 0, 0, 5, 0, 0, 0x61, 0xE1, 0x6E, 0x6F]),
            (.finish(number: 6), [5, 0, 0, 0, 6]),
            (.credit(65_536), [6, 0, 1, 0, 0]),
            (.listening(true), [7, 1]),
            (.message(ByteBuffer()), [0]),
        ]
        for (frame, bytes) in frames {
            #expect(Array(buffer: frame.bytes) == bytes)
            #expect(try DataFrame(parsing: ByteBuffer(bytes: bytes)) == frame)
        }
        #expect(try DataFrame(parsing: ByteBuffer(bytes: [8, 1])) == nil, "a newer version's kind has no effect")
    }

    @Test("Truncated and oversized frames are refused")
    func malformed() {
        for bytes: [UInt8] in [
            [], [1, 0, 0, 1], [1, 0, 0, 0, 1, 3], [2, 0, 0, 0, 1, 2], [3, 0], [4, 0, 0, 0, 1, 0], [5], [6, 0], [7],
            [7, 2],
            [0] + [UInt8](repeating: 0, count: 64_001), [4] + [UInt8](repeating: 0, count: 8 + 1_025),
        ] {
            #expect(throws: IoTError.self, "\(bytes.prefix(8))") { try DataFrame(parsing: ByteBuffer(bytes: bytes)) }
        }
    }

    @Test("A sender stops at the window, and continues with the receiver's credit; a peer that ignores it is refused")
    func window() throws {
        var sender = DataFlow()
        var receiver = DataFlow()
        let frame = DataFrame.message(ByteBuffer(repeating: 0, count: 64_000))
        for ticket in 1...8 { try sender.send(frame, ticket: UInt64(ticket)) }
        var arrived: [DataFrame] = []
        while let (_, frame) = sender.next() { arrived.append(try #require(try receiver.receive(frame.bytes))) }
        #expect(arrived.count == 4, "4 · 64,128 bytes fit into 262,144")
        #expect(throws: IoTError.self, "the fifth is more than the window") { try receiver.receive(frame.bytes) }
        receiver.processed(frame.cost)
        let early = receiver.next()
        #expect(early == nil, "a quarter of the window is reported together")
        receiver.processed(frame.cost)
        let report = receiver.next()
        let credit = try #require(report?.frame)
        #expect(credit == .credit(UInt32(2 * frame.cost)))
        #expect(try sender.receive(credit.bytes) == nil)
        let next = [sender.next(), sender.next(), sender.next()].map { $0 != nil }
        #expect(next == [true, true, false])
        // Credit for what was never sent.
        #expect(throws: IoTError.self) { try sender.receive(DataFrame.credit(.max).bytes) }
    }

    @Test("Frames without data keep their place; whether somebody listens overtakes, and the newest state counts")
    func order() throws {
        var flow = DataFlow()
        let long = DataFrame.message(ByteBuffer(repeating: 0, count: 64_000))
        for _ in 0..<5 { try flow.send(long, ticket: nil) }
        try flow.send(.end(number: 1), ticket: nil)
        flow.sendUrgently(.listening(true))
        flow.sendUrgently(.listening(false))
        var sent: [DataFrame] = []
        while let (_, frame) = flow.next() { sent.append(frame) }
        #expect(sent.count == 5 && sent.first == .listening(false), "the fifth message and the end wait")
        let isWithdrawn = flow.withdraw(1)
        #expect(!isWithdrawn, "the waiting message has no ticket")
    }

    @Test("A peer that gives no credit cannot make us keep more than 256 frames")
    func bound() throws {
        var flow = DataFlow()
        for _ in 0..<5 { try flow.send(.message(ByteBuffer(repeating: 0, count: 64_000)), ticket: nil) }
        while flow.next() != nil {}
        #expect(throws: IoTError.self) {
            for number in 0..<300 as Range<UInt32> {
                try flow.send(.failure(number: number, code: .nobodyListens, ""), ticket: nil)
            }
        }
    }
}
