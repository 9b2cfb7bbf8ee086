import IoTCore
import TestSupport
import Testing

@testable import IoTLink

@Suite("Envelopes on the wire")
struct EnvelopeTests {
    private func parse(_ text: String) throws(IoTError) -> Envelope {
        try Envelope(parsing: Array(text.utf8))
    }

    // The texts are from docs/link.md.
    static let golden: [(String, Envelope)] = [
        (
            #"{"deadline":1700000010000,"id":"5f","method":"device.list","params":{},"t":1700000000000}"#,
            .request(LinkRequest(id: "5f", method: "device.list", t: 1_700_000_000_000, deadline: 1_700_000_010_000))
        ),
        (
            #"{"deadline":2,"from":"u/owner","id":"5f","method":"action.take","params":{"path":"Action.x"},"t":1}"#,
            .request(
                LinkRequest(
                    id: "5f", method: "action.take", from: Principal("u/owner"), params: ["path": "Action.x"], t: 1,
                    deadline: 2))
        ),
        (
            #"{"code":0,"final":true,"id":"5f","message":"","result":{"devices":[]}}"#,
            .reply(LinkReply(id: "5f", result: ["devices": []]))
        ),
        (
            #"{"code":8000,"final":false,"id":"5f","message":"gone","result":null,"seq":3}"#,
            .reply(LinkReply(id: "5f", code: .deviceOffline, message: "gone", seq: 3, final: false))
        ),
        (
            #"{"code":8002,"final":true,"id":"5f","message":"gone","remedy":"list users","result":null}"#,
            .reply(LinkReply(id: "5f", code: .targetNotFound, message: "gone", remedy: "list users"))
        ),
        (
            #"{"method":"session.end","params":{"reason":"connectionLost"}}"#,
            .push(LinkPush(method: "session.end", params: ["reason": "connectionLost"]))
        ),
    ]

    @Test("Writes and reads the documented texts", arguments: golden)
    func roundTrip(_ text: String, _ envelope: Envelope) throws {
        let bytes = try envelope.serialized()
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        let read = try parse(text)
        #expect(read == envelope)
    }

    @Test("Ignores unknown members, and fills in missing members of a reply")
    func lenient() throws {
        let reply = try parse(#"{"id":"a","code":0,"x":[1]}"#)
        #expect(reply == .reply(LinkReply(id: "a")))
        let request = try parse(#"{"id":"a","method":"m","t":1,"deadline":2,"priority":9}"#)
        #expect(request == .request(LinkRequest(id: "a", method: "m", t: 1, deadline: 2)))
    }

    @Test(
        "Refuses a malformed envelope",
        arguments: [
            "", "{", "[]", "1", "{}", #"{"id":1,"method":"m","t":1,"deadline":2}"#, #"{"id":"a"}"#,
            #"{"id":"a","method":"m"}"#, #"{"id":"a","method":"m","t":1}"#,
            #"{"id":"a","method":"m","t":"1","deadline":2}"#,
            #"{"id":"a","method":"m","t":1,"deadline":1.5}"#, #"{"id":"a","method":"","t":1,"deadline":2}"#,
            #"{"id":"","code":0}"#, #"{"id":"a b","code":0}"#, #"{"id":"a","code":"0"}"#, #"{"id":"a","code":1e300}"#,
            #"{"id":"a","code":0,"seq":-1}"#, #"{"id":"a","code":0,"seq":"1"}"#,
            #"{"id":"a","method":"m","from":"x/y","t":1,"deadline":2}"#,
            #"{"id":"a","method":"m","from":5,"t":1,"deadline":2}"#,
        ])
    func malformed(_ text: String) {
        #expect(throws: IoTError.self) { try parse(text) }
    }

    @Test("Refuses an id or a method longer than 64 characters")
    func longNames() throws {
        let name = String(repeating: "a", count: 64)
        _ = try parse(#"{"id":"\#(name)","method":"\#(name)","t":1,"deadline":2}"#)
        #expect(throws: IoTError.self) { try parse(#"{"id":"\#(name)a","code":0}"#) }
        #expect(throws: IoTError.self) { try parse(#"{"method":"\#(name)a"}"#) }
    }

    @Test("An envelope is at most 256 KiB, when parsed and when written")
    func size() throws {
        let overhead = try Envelope.push(LinkPush(method: "m", params: "")).serialized().count
        let text = String(repeating: "x", count: Envelope.maximumSize - overhead)
        let largest = try Envelope.push(LinkPush(method: "m", params: .string(text))).serialized()
        #expect(largest.count == Envelope.maximumSize)
        _ = try Envelope(parsing: largest)
        #expect(throws: IoTError.self) {
            try Envelope.push(LinkPush(method: "m", params: .string(text + "x"))).serialized()
        }
        #expect(throws: IoTError.self) { try Envelope(parsing: largest + [0x20]) }
    }

    @Test("A damaged envelope does not trap")
    func damage() throws {
        var random = SeededGenerator(seed: 11)
        for (text, _) in Self.golden {
            for _ in 0..<500 {
                var bytes = Array(text.utf8)
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random)
                }
                if let envelope = try? Envelope(parsing: bytes) { _ = try envelope.serialized() }
            }
        }
    }
}
