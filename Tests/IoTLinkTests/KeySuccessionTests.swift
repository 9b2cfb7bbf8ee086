import IoTCore
import IoTLink
import Testing

@Suite struct KeySuccessionTests {
    private static func chain(_ count: Int) throws -> (keys: [DeviceKey], succession: KeySuccession) {
        let keys = (0..<count).map { _ in DeviceKey() }
        let succession = try zip(keys, keys.dropFirst()).reduce(KeySuccession()) {
            try $0.appending($1.0, signing: $1.1.publicKey)
        }
        return (keys, succession)
    }

    @Test("Each earlier key leads to the present one, in memory and as text")
    func leads() throws {
        let (keys, succession) = try Self.chain(4)
        let parsed = try #require(KeySuccession(succession.text))
        #expect(parsed == succession && parsed.previous == keys[2].publicKey)
        for key in keys.dropLast() {
            #expect(parsed.leads(from: key.publicKey.fingerprint, to: keys[3].publicKey))
            #expect(!parsed.leads(from: key.publicKey.fingerprint, to: DeviceKey().publicKey))
        }
        #expect(!parsed.leads(from: DeviceKey().publicKey.fingerprint, to: keys[3].publicKey))
        // Not backwards, and not from the present key.
        #expect(!parsed.leads(from: keys[3].publicKey.fingerprint, to: keys[0].publicKey))
        #expect(KeySuccession("")?.isEmpty == true)
        #expect(!KeySuccession().leads(from: keys[0].publicKey.fingerprint, to: keys[0].publicKey))
    }

    @Test("A changed, missing or exchanged signature breaks the way from the keys before it, and only from those")
    func forged() throws {
        let (keys, succession) = try Self.chain(4)
        let fields = succession.text.split(separator: " ").map(String.init)
        let changed = Base64.encode([UInt8](repeating: 7, count: 64))
        var wrong = fields
        wrong[3] = changed
        var exchanged = fields
        exchanged.swapAt(1, 3)
        var shorter = fields
        shorter.removeSubrange(2...3)
        for (fields, open) in [(wrong, [2]), (exchanged, [2]), (shorter, [2])] {
            let forged = try #require(KeySuccession(fields.joined(separator: " ")))
            for (index, key) in keys.dropLast().enumerated() {
                let leads = forged.leads(from: key.publicKey.fingerprint, to: keys[3].publicKey)
                #expect(leads == open.contains(index), "\(index)")
            }
        }
    }

    @Test("A signature of a description is not one of a key, and the reverse")
    func label() throws {
        let (keys, succession) = try Self.chain(2)
        let statement = "iotvideod key succession 1\nold \(keys[0].publicKey.text)\nnew \(keys[1].publicKey.text)\n"
        let signature = try keys[0].signature(of: Array(statement.utf8))
        #expect(succession.text.hasPrefix(keys[0].publicKey.text + " "))
        #expect(
            KeySuccession("\(keys[0].publicKey.text) \(Base64.encode(signature))")?.leads(
                from: keys[0].publicKey.fingerprint, to: keys[1].publicKey) == true, "the form is documented")
    }

    @Test("Only the newest eight are kept, which is the largest text")
    func limit() throws {
        let (keys, succession) = try Self.chain(KeySuccession.limit + 3)
        let present = keys.last!.publicKey
        #expect(succession.text.utf8.count == KeySuccession.maximumSize)
        #expect(!succession.leads(from: keys[1].publicKey.fingerprint, to: present))
        #expect(succession.leads(from: keys[2].publicKey.fingerprint, to: present))
        #expect(KeySuccession(succession.text) != nil)
        #expect(KeySuccession(succession.text + " " + succession.text) == nil)
    }

    @Test("After a power failure the steps from the present key on are dropped")
    func before() throws {
        let (keys, succession) = try Self.chain(4)
        #expect(succession.before(keys[3].publicKey) == succession)
        let earlier = succession.before(keys[1].publicKey)
        #expect(earlier.leads(from: keys[0].publicKey.fingerprint, to: keys[1].publicKey))
        #expect(earlier.previous == keys[0].publicKey)
    }

    @Test("Malformed text is refused", arguments: ["A", "A B", "💥 💥", "A B C"])
    func malformed(text: String) throws {
        #expect(KeySuccession(text) == nil)
        let (_, succession) = try Self.chain(2)
        #expect(KeySuccession(succession.text.dropLast(2)) == nil)
        #expect(KeySuccession(succession.text + " " + text) == nil)
    }

    @Test("A proof has the succession of its key")
    func proof() throws {
        var (keys, succession) = try Self.chain(2)
        #expect(try keys[1].prove("a").json["succession"] == nil)
        keys[1].succession = succession
        let json = try keys[1].prove("a").json
        #expect(json["succession"] == .string(succession.text))
        let answer = JSONValue.object((json.objectValue ?? [:]).merging(["answer": "v=0"]) { $1 })
        let read = try CallAnswer(LinkMembers(answer, of: "test", failure: .invalidRequest))
        let proof = try #require(read.proof)
        #expect(proof.leads(from: keys[0].publicKey.fingerprint, to: keys[1].publicKey))
        #expect(!proof.leads(from: keys[1].publicKey.fingerprint, to: keys[0].publicKey))
    }
}
