/// The encodings of Ed25519 keys (RFC 8410), as OpenSSL reads and writes them.
package enum Ed25519Encoding {
    /// The number of bytes of either half.
    package static let byteCount = 32

    /// A PKCS #8 document (RFC 8410 §7) without the key's bytes.
    private static let privateHeader: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    /// A SubjectPublicKeyInfo (RFC 8410 §4) without the key's bytes.
    private static let publicHeader: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// The private half in PEM.
    package static func pem(privateKey bytes: [UInt8]) -> String {
        pem(privateHeader + bytes, "PRIVATE KEY")
    }

    /// The private half; `nil` for anything else.
    package static func privateKey(pem text: String) -> [UInt8]? {
        document(text, "PRIVATE KEY").flatMap { key($0, behind: privateHeader) }
    }

    /// The public half in PEM.
    package static func pem(publicKey bytes: [UInt8]) -> String {
        pem(subjectPublicKeyInfo(bytes), "PUBLIC KEY")
    }

    /// The public half; `nil` for anything else.
    package static func publicKey(pem text: String) -> [UInt8]? {
        document(text, "PUBLIC KEY").flatMap(publicKey(subjectPublicKeyInfo:))
    }

    package static func subjectPublicKeyInfo(_ publicKey: [UInt8]) -> [UInt8] { publicHeader + publicKey }

    package static func publicKey(subjectPublicKeyInfo document: [UInt8]) -> [UInt8]? {
        key(document, behind: publicHeader)
    }

    private static func key(_ document: [UInt8], behind header: [UInt8]) -> [UInt8]? {
        guard document.count == header.count + byteCount, document.starts(with: header) else { return nil }
        return Array(document.dropFirst(header.count))
    }

    private static func pem(_ document: [UInt8], _ label: String) -> String {
        "-----BEGIN \(label)-----\n\(Base64.encode(document))\n-----END \(label)-----\n"
    }

    private static func document(_ text: String, _ label: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline).map { line in line.filter { $0 != " " && $0 != "\t" } }
        let name = label.filter { $0 != " " }
        guard lines.count >= 3, lines.first == "-----BEGIN\(name)-----", lines.last == "-----END\(name)-----" else {
            return nil
        }
        return Base64.decode(lines.dropFirst().dropLast().joined())
    }
}
