import Crypto
import IoTCore

/// A request's id: 128 random bits as 32 lower-case hex digits. The hub accepts 1 to 64 characters of
/// `[A-Za-z0-9._-]` from other clients.
public enum RequestID {
    public static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    static func random(using generator: inout some RandomNumberGenerator) -> String {
        Hex.random(byteCount: 16, using: &generator)
    }

    /// Returns an id that is the same for the same text, and different for any other.
    package static func derived(from text: String) -> String {
        Hex.encode(SHA256.hash(data: Array(text.utf8)).prefix(16))
    }

    public static func isValid(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
