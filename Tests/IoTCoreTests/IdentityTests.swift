import Foundation
import IoTCore
import Testing

@Suite struct IdentityTests {
    @Test("A device id is exactly 32 lower-case hex digits")
    func deviceID() {
        #expect(DeviceID(rawValue: "00112233445566778899aabbccddeeff") != nil)
        for text in [
            "", "0011", "00112233445566778899AABBCCDDEEFF", "00112233445566778899aabbccddeefg",
            "00112233445566778899aabbccddeeff0", "00112233445566778899aabbccddee é", "０0112233445566778899aabbccddeeff",
        ] {
            #expect(DeviceID(rawValue: text) == nil)
        }
    }

    @Test("Random device ids are valid and differ")
    func randomDeviceID() {
        let ids = Set((0..<100).map { _ in DeviceID.random() })
        #expect(ids.count == 100)
        #expect(ids.allSatisfy { DeviceID(rawValue: $0.rawValue) != nil })
    }

    @Test("An access id is 1 to 64 characters of [a-z0-9_-]")
    func accessID() {
        for text in ["a", "owner", "0_-", String(repeating: "z", count: 64)] {
            #expect(AccessID(rawValue: text) != nil)
        }
        for text in ["", "Owner", "a b", "a/b", "a+", "#", "é", String(repeating: "z", count: 65), "a\u{301}"] {
            #expect(AccessID(rawValue: text) == nil)
        }
    }

    @Test("A name may not look like an id and may not begin with a punctuation mark")
    func deviceName() {
        for name in ["front", "Front-Door_2.1", "前门", "2", "é", "00112233445566778899AABBCCDDEEFF"] {
            #expect(DeviceName.isValid(name), "\(name)")
        }
        for name in [
            "", "-front", "_x", ".x", "a b", "a/b", "a\n", "🏠", "00112233445566778899aabbccddeeff",
            String(repeating: "x", count: 65), String(repeating: "家", count: 22),
        ] {
            #expect(!DeviceName.isValid(name), "\(name)")
        }
    }

    @Test("Ids are encoded as plain text, and invalid ones are refused on decoding")
    func codable() throws {
        let id = DeviceID.random()
        #expect(try JSONDecoder().decode([DeviceID].self, from: JSONEncoder().encode([id])) == [id])
        #expect(throws: DecodingError.self) {
            _ = try JSONDecoder().decode([DeviceID].self, from: Data(#"["x"]"#.utf8))
        }
        #expect(throws: DecodingError.self) {
            _ = try JSONDecoder().decode([AccessID].self, from: Data(#"["X"]"#.utf8))
        }
    }

    @Test("Hex is written in lower case and read in either case; odd lengths and other characters are refused")
    func hex() {
        #expect(Hex.encode([0x00, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.decode("000FA5ff") == [0x00, 0x0F, 0xA5, 0xFF])
        #expect(Hex.decode("") == [])
        for text in ["0", "0g", "+1", " 1", "0x", "é0", "１1"] { #expect(Hex.decode(text) == nil, "\(text)") }
        #expect(Hex.random(byteCount: 16).utf8.count == 32)
    }
}
