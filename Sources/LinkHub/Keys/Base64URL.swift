import Foundation

/// RFC 4648 §5 without padding, as JWTs use it.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let standard = Data(bytes).base64EncodedString().utf8.filter { $0 != UInt8(ascii: "=") }
        return String(decoding: standard.map(toURL), as: UTF8.self)
    }

    private static func toURL(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }

    private static func toStandard(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        // Not of this alphabet: made into what no alphabet has.
        case UInt8(ascii: "+"), UInt8(ascii: "/"): 0
        default: byte
        }
    }

    /// `nil` for text that is none.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: Data(text.utf8.map(toStandard) + padding)).map { Array($0) }
    }
}
