/// The text of an API token: three parts of base64url, as every JWT has (RFC 7519 §3). It is never printed.
struct BearerToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    static let maximumSize = 4096

    let text: String

    /// `nil` for text of another form. Only ASCII passes, so that comparing and hashing costs no more than its bytes.
    init?(_ text: some Sequence<UInt8>) {
        var bytes: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                bytes.append(byte)
            default: return nil
            }
            guard bytes.count <= Self.maximumSize else { return nil }
        }
        guard bytes.count >= 5, bytes.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { return nil }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    var description: String { "API token" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
