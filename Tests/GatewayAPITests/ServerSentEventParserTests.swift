import GatewayAPI
import Testing

// The examples are from the HTML Living Standard §9.2.6 where it has one.
@Suite struct ServerSentEventParserTests {
    private func parse(_ text: String) -> [ServerSentEvent] {
        var parser = ServerSentEventParser()
        return parser.receive(text.utf8)
    }

    @Test("Two lines of data are one event with a line break")
    func multipleLines() {
        #expect(
            parse("data: YHOO\ndata: +2\ndata: 10\n\n") == [ServerSentEvent(name: "message", data: "YHOO\n+2\n10")])
    }

    @Test("Comments and unknown fields are skipped, as is one space after the colon; unfinished blocks are dropped")
    func standardExample() {
        let events = parse(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event")
        #expect(events.map(\.data) == ["first event", "second event"])
    }

    @Test("A field without a colon is empty: `data` alone is an event without text")
    func emptyData() {
        #expect(parse("data\n\ndata\ndata\n\ndata:").map(\.data) == ["", "\n"])
    }

    @Test("LF, CR and CRLF end a line", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) {
        let text = ["event: a", "data: 1", "", "data: 2", ""].joined(separator: end) + end
        #expect(
            parse(text) == [ServerSentEvent(name: "a", data: "1"), ServerSentEvent(name: "message", data: "2")])
    }

    @Test("Bytes may be split anywhere, even inside a character or a CRLF")
    func pieces() {
        let event = ServerSentEvent(name: "état", data: "naïve\n\n日本")
        let bytes = Array((ServerSentEvent.heartbeat + event.text).replacing("\n", with: "\r\n").utf8)
        for cut in 0...bytes.count {
            var parser = ServerSentEventParser()
            #expect(parser.receive(bytes[..<cut]) + parser.receive(bytes[cut...]) == [event])
        }
    }

    @Test("An event over the limit is dropped and the next one is read")
    func oversized() {
        let line = String(repeating: "x", count: ServerSentEventParser.maximumEventSize)
        #expect(parse("data: \(line)\n\ndata: next\n\n").map(\.data) == ["next"])
        #expect(parse("data: \(line.dropLast(9))\ndata: 0123456789\n\ndata: next\n\n").map(\.data) == ["next"])
    }
}
