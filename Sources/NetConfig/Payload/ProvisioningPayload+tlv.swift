import IoTCore

// Compact TLV text: a tag character, two hex digits for the length, the value. Tags: 0 ssid, 1 password, 2 security (0
// open, 2 WPA), 4 language, 5 token, 6 the hub's URL (of the tags 6 to 9, which are reserved for the platform), and
// extras.
extension ProvisioningPayload {
    func tlvText() throws(IoTError) -> String {
        if isHidden { throw Self.unsupported("hidden", .tlv, use: "wifi") }
        var text = ""
        for field in fields {
            text += "\(field.tag)\(Hex.encode([try Self.length(of: field.value, field.name)]))\(field.value)"
        }
        return text
    }

    /// Both TLV forms have one byte for it.
    static func length(of value: String, _ name: String) throws(IoTError) -> UInt8 {
        guard let length = UInt8(exactly: value.utf8.count) else {
            throw IoTError(
                .payloadTooLarge, "\(name): it has \(value.utf8.count) bytes; this format can say at most 255")
        }
        return length
    }

    init(tlv text: String) throws(IoTError) {
        var fields: [Character: String] = [:]
        var rest = Array(text.utf8)[...]
        while let tag = rest.popFirst() {
            guard tag < 0x80, rest.count >= 2,
                let length = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))?.first,
                let value = String(validating: rest.dropFirst(2).prefix(Int(length)), as: UTF8.self),
                rest.count >= 2 + Int(length)
            else { throw Self.malformed("the TLV text ends inside a field, or a length is not two hex digits") }
            guard fields.updateValue(value, forKey: Character(Unicode.Scalar(tag))) == nil else {
                throw Self.malformed("the TLV text holds a tag twice")
            }
            rest = rest.dropFirst(2 + Int(length))
        }
        try self.init(fields: fields)
    }
}
