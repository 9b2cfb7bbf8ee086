import IoTCore
import TestSupport
import Testing

@testable import IoTLink

@Suite("The id of a request that is not parsed")
struct RequestHeadTests {
    @Test(
        "The id is found at any place, whatever the other members are",
        arguments: [
            #"{"id":"5f","method":"x"}"#, #" { "method" : "x" , "id" : "5f" } "#,
            #"{"params":{"id":"no","a":["}",{"\"":"\\"}]},"t":1,"id":"5f","method":"x"}"#,
            #"{"params":"\"id\":\"no\"","id":"5f","method":"x"}"#, #"{"id":"5f","method":"x","params":{"id":"no"}"#,
            #"{"id":"no","id":"5f","method":"x"}"#, #"{"a":nonsense,"id":"5f","method":7"#,
        ])
    func found(text: String) {
        #expect(RequestHead.id(in: Array(text.utf8)) == "5f")
    }

    @Test(
        "A text that is not a request has no id",
        arguments: [
            "", "{", "[]", "{}", #"{"id":"5f"}"#, #"{"method":"x"}"#, #"{"id":5,"method":"x"}"#,
            #"[{"id":"5f","method":"x"}]"#,
            #"{"id":"","method":"x"}"#, #"{"id":"a b","method":"x"}"#, #"{"x":{"id":"5f","method":"x"}}"#,
            #"{"id":"5f"#,
            #"{"id":"5f","code":0}"#, #"{"id":"ä","method":"x"}"#,
        ])
    func missing(text: String) {
        #expect(RequestHead.id(in: Array(text.utf8)) == nil)
    }

    @Test("The id is the same as the envelope's, and a truncated or damaged text does not trap")
    func agrees() throws {
        var generator = SeededGenerator(seed: 11)
        let request = LinkRequest(
            id: "5f.a_B-9", method: "x", params: ["a": ["\"", "\\", ["id": 1]]], t: 1, deadline: 2)
        let bytes = try Envelope.request(request).serialized()
        #expect(RequestHead.id(in: bytes) == request.id)
        for length in 0..<bytes.count { _ = RequestHead.id(in: Array(bytes[..<length])) }
        for _ in 0..<2_000 {
            var damaged = bytes
            damaged[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                in: .min ... .max, using: &generator)
            let id = RequestHead.id(in: damaged)
            if case .request(let read)? = try? Envelope(parsing: damaged), let id { #expect(id == read.id) }
        }
    }
}
