import IoTCore
import TestSupport
import Testing

@testable import NetConfig

@Suite struct DNSMessageTests {
    /// What avahi-daemon 0.8 sent in a network namespace while `avahi-publish -s "Door Küche" _iotlink._udp 5000 …` and
    /// `avahi-browse -rpta` ran: caught by tcpdump.
    enum Capture {
        static let probe =
            "0000000000010000000200000b446f6f72204bc3bc636865085f696f746c696e6b045f756470056c6f63616c0000ff0001c0"
            + "0c0021000100000078000b00000000138802766dc026c00c001000010000119400452964657669636549443d303132333435"
            + "36373839616263646566303132333435363738396162636465660f70726f6475637449443d31323334350a6861734f776e65"
            + "723d31"
        static let answer =
            "0000840000000006000000000b446f6f72204bc3bc636865085f696f746c696e6b045f756470056c6f63616c000010800100"
            + "00119400452964657669636549443d30313233343536373839616263646566303132333435363738396162636465660f7072"
            + "6f6475637449443d31323334350a6861734f776e65723d31c018000c0001000011940002c00cc00c0021800100000078000b"
            + "00000000138802766dc026c09c001c8001000000780010fe80000000000000346357fffec2d042c09c000180010000007800"
            + "04c0000201095f7365727669636573075f646e732d7364c021000c0001000011940002c018"
        static let query =
            "000000000002000200000000095f7365727669636573075f646e732d7364045f756470056c6f63616c00000c0001085f696f"
            + "746c696e6bc01e000c0001c02e000c000100001194000e0b446f6f72204bc3bc636865c02ec00c000c0001000011940002c0"
            + "2e"
        static let goodbye =
            "00008400000000040000000002766d056c6f63616c00001c8001000000000010fe80000000000000346357fffec2d0420132"
            + "0134013001640132016301650166016601660137013501330136013401330130013001300130013001300130013001300130"
            + "01300130013001380165016603697036046172706100000c8001000000000002c00cc00c00018001000000000004c0000201"
            + "0131013201300331393207696e2d61646472c074000c8001000000000002c00c"
        static let all = [probe, answer, query, goodbye]
    }

    static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

    @Test("Avahi's answer is read: strings, pointers, port, addresses, and which records are unique")
    func avahiAnswer() throws {
        let message = try #require(DNSMessage(parsing: Self.bytes(Capture.answer)))
        #expect(message.isResponse && message.questions.isEmpty && message.answers.count == 6)
        let instance = try #require(ServiceType.iotlink.name.prefixed(by: "Door Küche".utf8))
        let host = try #require(DNSName.local.prefixed(by: "vm".utf8))
        #expect(
            message.answers.map(\.name) == [
                instance, ServiceType.iotlink.name, instance, host, host, ServiceType.listing,
            ])
        #expect(message.answers.map(\.isUnique) == [true, false, true, true, true, false])
        #expect(message.answers.map(\.ttl) == [4500, 4500, 120, 120, 120, 4500])
        #expect(message.answers[1].value == .pointer(instance))
        #expect(message.answers[2].value == .service(priority: 0, weight: 0, port: 5000, target: host))
        #expect(message.answers[4].value == .address([192, 0, 2, 1]))
        guard case .text(let strings) = message.answers[0].value else { throw Unexpected() }
        #expect(
            ServiceText.parse(strings) == [
                "deviceid": "0123456789abcdef0123456789abcdef", "productid": "12345", "hasowner": "1",
            ])
    }

    private struct Unexpected: Error {}

    @Test("Avahi's probe and query are read")
    func avahiQuestions() throws {
        let probe = try #require(DNSMessage(parsing: Self.bytes(Capture.probe)))
        #expect(!probe.isResponse && probe.questions.count == 1 && probe.authorities.count == 2)
        #expect(probe.questions.first?.type == DNSRecordType.any)
        let query = try #require(DNSMessage(parsing: Self.bytes(Capture.query)))
        #expect(query.questions.map(\.name) == [ServiceType.listing, ServiceType.iotlink.name])
        #expect(query.answers.count == 2)
    }

    @Test("What is written is as Avahi writes it, byte for byte", arguments: Capture.all)
    func written(hex: String) throws {
        let message = try #require(DNSMessage(parsing: Self.bytes(hex)))
        #expect(Hex.encode(message.encoded()) == hex)
    }

    // RFC 1035 §4.1.4: F.ISI.ARPA, FOO before a pointer to it, a pointer into its middle, and the root.
    @Test("The compression of RFC 1035's example")
    func compression() throws {
        let head: [UInt8] = [0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0]
        let end: [UInt8] = [0, 1, 0, 1]
        let first: [UInt8] = [1] + Array("F".utf8) + [3] + Array("ISI".utf8) + [4] + Array("ARPA".utf8) + [0]
        let foo: [UInt8] = [3] + Array("FOO".utf8) + [0xC0, 12]
        let bytes = head + first + end + foo + end + [0xC0, 18] + end + [0] + end
        let message = try #require(DNSMessage(parsing: bytes))
        #expect(message.questions.map(\.name.description) == ["F.ISI.ARPA", "FOO.F.ISI.ARPA", "ARPA", ""])
        #expect(message.encoded() == bytes)
    }

    @Test("Names differ in ASCII's case alone without being different")
    func caseOfNames() throws {
        let upper = try #require(DNSName.local.prefixed(by: "CAM É".utf8))
        let lower = try #require(DNSName.local.prefixed(by: "cam É".utf8))
        let other = try #require(DNSName.local.prefixed(by: "cam é".utf8))
        #expect(upper == lower && upper.hashValue == lower.hashValue && lower != other)
    }

    @Test("A pointer to itself, forward, in a circle or beyond the end is refused, and so is a name of 256 bytes")
    func hostileNames() {
        func message(_ name: [UInt8], before: [UInt8] = []) -> [UInt8] {
            [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + before + name + [0, 1, 0, 1]
        }
        #expect(DNSMessage(parsing: message([1, 65, 0])) != nil)
        #expect(DNSMessage(parsing: message([0xC0, 12])) == nil)
        #expect(DNSMessage(parsing: message([0xC0, 14, 0])) == nil)
        #expect(DNSMessage(parsing: message([1, 65, 0xC0, 12])) == nil)
        #expect(DNSMessage(parsing: message([0xFF, 0xFF])) == nil)
        #expect(DNSMessage(parsing: message([0x40, 0])) == nil)
        let label: [UInt8] = [62] + [UInt8](repeating: 65, count: 62)
        let longest = label + label + label + label + [1, 65, 0]
        #expect(longest.count == 255 && DNSMessage(parsing: message(longest)) != nil)
        #expect(DNSMessage(parsing: message(label + label + label + label + [2, 65, 65, 0])) == nil)
    }

    @Test("No cut message is read, none of more than 9,000 bytes, and no flipped bit traps")
    func damaged() {
        for hex in Capture.all {
            let whole = Self.bytes(hex)
            for length in 0..<whole.count { #expect(DNSMessage(parsing: Array(whole[..<length])) == nil) }
            for place in whole.indices {
                for bit in 0..<8 {
                    var bytes = whole
                    bytes[place] ^= 1 << UInt8(bit)
                    _ = DNSMessage(parsing: bytes)
                }
            }
            let padding = [UInt8](repeating: 0, count: 9_000 - whole.count)
            #expect(DNSMessage(parsing: whole + padding) != nil)
            #expect(DNSMessage(parsing: whole + padding + [0]) == nil)
        }
    }

    @Test("Avahi's goodbye is read: no record lives on")
    func goodbye() throws {
        let message = try #require(DNSMessage(parsing: Self.bytes(Capture.goodbye)))
        #expect(message.answers.map(\.ttl) == [0, 0, 0, 0])
        #expect(message.answers.last?.name.description == "1.2.0.192.in-addr.arpa")
    }

    @Test("Text: the first of a key, its case, empty values, and what no person can read")
    func text() {
        func parse(_ strings: String...) -> [String: String] { ServiceText.parse(strings.map { Array($0.utf8) }) }
        #expect(
            parse("Path=/live", "path=/other", "flag", "empty=", "=x", "") == [
                "path": "/live", "flag": "", "empty": "",
            ])
        #expect(parse("a=\u{1B}[2J", "b=\u{202E}x", "c=\u{85}", "d=ok") == ["d": "ok"])
        #expect(parse("a=" + String(repeating: "\u{301}", count: 40)) == [:])
        #expect(ServiceText.parse([[0x61, 0x3D, 0xFF]]) == [:])
        #expect(ServiceText.parse((0..<40).map { Array("k\($0)=1".utf8) }).count == 32)
        #expect(
            ServiceText.strings([("a", "1"), ("b", nil), ("c", String(repeating: "x", count: 254)), ("d", "\u{7}")])
                == [Array("a=1".utf8)])
    }
}
