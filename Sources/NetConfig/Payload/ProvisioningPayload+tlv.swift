import IoTCore

// Compact TLV text. Tags: 0 ssid, 1 password, 2 security (0 open, 2 WPA), 4 language, 5 token, 6 the hub's URL (of the
// tags 6 to 9 that are left to the platform), and extras. With a password, WPA goes without saying, and tag 2 is left
// out; an open network says so.
extension ProvisioningPayload {
    private static let maximumFieldLength = 255

    func tlvText() throws(IoTError) -> String {
        if isHidden { throw Self.unsupported("hidden", .tlv, use: "wifi") }
        var text = try Self.field("0", ssid, "ssid")
        text += password.isEmpty ? try Self.field("2", "0", "security") : try Self.field("1", password, "password")
        if let language { text += try Self.field("4", language, "language") }
        if let token { text += try Self.field("5", token, "token") }
        if let hub { text += try Self.field("6", hub, "hub") }
        for (tag, value) in extras.sorted(by: { $0.key < $1.key }) {
            text += try Self.field(tag, value, "extras \(tag)")
        }
        return text
    }

    private static func field(_ tag: Character, _ value: String, _ name: String) throws(IoTError) -> String {
        guard let length = UInt8(exactly: value.utf8.count) else {
            throw IoTError(
                .payloadTooLarge,
                "\(name): it has \(value.utf8.count) bytes; two hex digits can say at most \(maximumFieldLength)")
        }
        return "\(tag)\(Hex.encode([length]))\(value)"
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
            let name = Character(Unicode.Scalar(tag))
            guard fields.updateValue(value, forKey: name) == nil else {
                throw Self.malformed("the TLV text holds the tag '\(name)' twice")
            }
            rest = rest.dropFirst(2 + Int(length))
        }
        guard let ssid = fields.removeValue(forKey: "0") else { throw Self.malformed("the TLV text holds no ssid") }
        let password = fields.removeValue(forKey: "1") ?? ""
        let security = fields.removeValue(forKey: "2")
        guard security == nil || (security == "0") == password.isEmpty else {
            throw Self.malformed("the TLV text's security does not go with its password")
        }
        self.init(
            ssid: ssid, password: password, token: fields.removeValue(forKey: "5"),
            hub: fields.removeValue(forKey: "6"), language: fields.removeValue(forKey: "4"), extras: fields)
    }
}
