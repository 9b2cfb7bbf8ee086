import IoTCore
import IoTLink
import Testing

@Suite struct DescriptionProofTests {
    private let call = CallIdentity(
        device: DeviceID(rawValue: "00112233445566778899aabbccddeeff")!, caller: Principal("u/bob")!, session: "s1",
        kind: .monitor, source: .main)

    /// The hashes are those of `printf 'v=0' | sha256sum` and `printf 'v=1' | sha256sum`.
    @Test("The signed text has this exact form, which other implementations need")
    func text() {
        #expect(
            call.statement(of: "v=0", by: .device)
                == """
                iotvideod call description 1
                author device
                device 00112233445566778899aabbccddeeff
                caller u/bob
                session s1
                kind monitor
                source 0
                offer -
                description 6b8a9dc1308eebbe905f696791fd14bca92a2ad667dd43ed464390c69a2b1e9c

                """)
        let answer = call.statement(of: "v=0", by: .caller, answering: "v=1")
        #expect(answer.contains("author caller\n"))
        #expect(answer.contains("offer a798de8ee75aeb5519c5266239190385c84b21ae031ff12cbebfed7cd2c84fde\n"))
    }

    @Test("A proof is valid for one call, one author, one description and one offer only")
    func binding() throws {
        let key = DeviceKey()
        let proof = try key.prove(call.statement(of: "v=0", by: .device, answering: "v=1"))
        #expect(proof.signer(of: call.statement(of: "v=0", by: .device, answering: "v=1")) == key.publicKey)
        var others: [String] = [
            call.statement(of: "v=2", by: .device, answering: "v=1"),
            call.statement(of: "v=0", by: .caller, answering: "v=1"),
            call.statement(of: "v=0", by: .device, answering: "v=2"), call.statement(of: "v=0", by: .device),
        ]
        let changes: [(inout CallIdentity) -> Void] = [
            { $0.device = .random() }, { $0.caller = Principal("u/eve")! }, { $0.session = "s2" }, { $0.kind = .live },
            { $0.source = .camera(1) }, { $0.source = .caller },
        ]
        for change in changes {
            var other = call
            change(&other)
            others.append(other.statement(of: "v=0", by: .device, answering: "v=1"))
        }
        for other in others { #expect(proof.signer(of: other) == nil, "\(other)") }
    }

    @Test("A malformed proof is not valid, and is not the same as none")
    func malformed() throws {
        let statement = call.statement(of: "v=0", by: .device)
        let json = try DeviceKey().prove(statement).json
        let wrong: [JSONValue?] = [nil, .null, 1, "", "AAAA", .string(String(repeating: "A", count: 88)), "💥"]
        for name in ["key", "signature"] {
            for value in wrong {
                var message = json.merging(["answer": "v=0"])
                message[name] = value
                let read = try CallAnswer(LinkMembers(message, of: "test", failure: .invalidRequest))
                let proof = try #require(read.proof)
                #expect(proof.signer(of: statement) == nil, "\(name) \(value as Any)")
            }
        }
        #expect(try CallAnswer(LinkMembers(["answer": "v=0"], of: "test", failure: .invalidRequest)).proof == nil)
    }
}
