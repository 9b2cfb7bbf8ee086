/// The user name fragment and password of one side (RFC 8445 §5.3).
struct ICECredentials: Sendable, Hashable {
    var ufrag: String
    var password: String

    init(ufrag: String, password: String) {
        self.ufrag = ufrag
        self.password = password
    }

    /// 48 random bits of user name fragment and 144 of password; the minimum is 24 and 128.
    init(using generator: inout any RandomNumberGenerator) {
        ufrag = Self.text(8, using: &generator)
        password = Self.text(24, using: &generator)
    }

    /// True when the lengths and characters conform to RFC 8839 §5.4.
    var isValid: Bool {
        Self.isFragment(ufrag) && (22...Self.maximumByteCount).contains(password.utf8.count) && Self.isText(password)
    }

    /// The maximum length of a user name fragment and of a password, in bytes.
    static let maximumByteCount = 256

    /// True for a valid user name fragment: 4 to 256 of `ice-char`.
    static func isFragment(_ text: some StringProtocol) -> Bool {
        (4...maximumByteCount).contains(text.utf8.count) && isText(text)
    }

    private static func isText(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy(alphabet.contains)
    }

    var key: [UInt8] {
        MessageIntegrity.shortTermKey(password: password)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func text(_ count: Int, using generator: inout any RandomNumberGenerator) -> String {
        String(decoding: (0..<count).map { _ in alphabet[Int(generator.next() & 63)] }, as: UTF8.self)
    }
}
