public import IoTCore

/// The bootstrapping information of Wi-Fi Easy Connect (DPP specification 3.0 §5.2.1): a device's public key, and the
/// channels on which it listens. This product recognises such codes; it does not implement DPP.
///
/// `DPP:C:81/1,115/36;M:5254005828e5;V:2;K:…;;`
public struct DPPAddress: Sendable, Hashable {
    /// `operating class/channel`, as written.
    public var channels: [String]
    /// Twelve hex digits.
    public var mac: String?
    public var information: String?
    /// The protocol's version: a number.
    public var version: Int?
    /// The device's public key: a SubjectPublicKeyInfo in DER.
    public var key: [UInt8]

    /// Throws `invalidQRInput` for text in another form, without a key, or with a duplicate known field. Unknown fields
    /// are ignored, as the specification requires.
    public init(parsing text: String) throws(IoTError) {
        guard text.utf8.starts(with: "DPP:".utf8), text.utf8.count >= 6,
            text.utf8.suffix(2).elementsEqual(";;".utf8)
        else { throw Self.malformed("it must begin with DPP: and end with ;;") }
        var fields: [UInt8: String] = [:]
        let content = Array(text.utf8.dropFirst(4).dropLast(2))
        for field in content.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")), colon > field.startIndex else {
                throw Self.malformed("a field has no name")
            }
            // All known fields have names of one letter.
            guard field.distance(from: field.startIndex, to: colon) == 1 else { continue }
            let value = String(decoding: field[(colon + 1)...], as: UTF8.self)
            guard fields.updateValue(value, forKey: field[field.startIndex]) == nil else {
                throw Self.malformed("a field comes twice")
            }
        }
        guard let key = fields[UInt8(ascii: "K")].flatMap({ Base64.decode($0) }), !key.isEmpty else {
            throw Self.malformed("there is no public key (K)")
        }
        self.key = key
        channels = (fields[UInt8(ascii: "C")] ?? "").split(separator: ",").map(String.init)
        guard channels.allSatisfy(Self.isChannel) else { throw Self.malformed("the channels (C) are not understood") }
        // Some writers use colons.
        mac = fields[UInt8(ascii: "M")]?.filter { $0 != ":" }
        guard mac.map({ Hex.decode($0)?.count == 6 }) ?? true else {
            throw Self.malformed("the MAC address (M) is not twelve hex digits")
        }
        let number = fields[UInt8(ascii: "V")]
        version = number.flatMap { Int($0) }
        guard number == nil || version.map({ (1...255).contains($0) }) == true else {
            throw Self.malformed("the version (V) is not a number")
        }
        information = fields[UInt8(ascii: "I")]
    }

    private static func isChannel(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func malformed(_ reason: String) -> IoTError {
        IoTError(.invalidQRInput, "the DPP address: \(reason)")
    }
}
