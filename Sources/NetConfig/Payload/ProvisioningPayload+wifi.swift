import IoTCore

// `WIFI:T:WPA;S:…;P:…;H:true;;`. There are two rules for characters that would end a value: ZXing's, a backslash before
// each of \ ; , " : (https://github.com/zxing/zxing/wiki/Barcode-Contents#wi-fi-network-config-android-ios-11), and the
// WPA3 specification's, percent-encoding (§7).
extension ProvisioningPayload {
    private static let escaped: Set<Character> = ["\\", ";", ",", "\"", ":"]

    func wifiText() throws(IoTError) -> String {
        try wifiText(.wifi, Self.escape)
    }

    /// `R:0` disables no transition: it is included because only a field of WPA3's own shows which rule applies.
    func wpa3Text() throws(IoTError) -> String {
        try wifiText(.wpa3, Self.percentEncode)
    }

    private func wifiText(_ format: ProvisioningFormat, _ escape: (String) -> String) throws(IoTError) -> String {
        let others = "tlv or json"
        if token != nil { throw Self.unsupported("token", format, use: others) }
        if hub != nil { throw Self.unsupported("hub", format, use: others) }
        if language != nil { throw Self.unsupported("language", format, use: others) }
        if !extras.isEmpty { throw Self.unsupported("extras", format, use: others) }
        let security = password.isEmpty ? "T:nopass;" : "T:WPA;"
        let transition = format == .wpa3 ? "R:0;" : ""
        let passwordField = password.isEmpty ? "" : "P:\(escape(password));"
        return "WIFI:\(security)\(transition)S:\(escape(ssid));\(passwordField)\(isHidden ? "H:true;" : "");"
    }

    /// All except `printable` of the grammar; also the backslash and the quote, which readers with ZXing's rule would
    /// interpret.
    private static func percentEncode(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            let isPlain = (0x20...0x7E).contains(byte) && !#"%;\""#.utf8.contains(byte)
            encoded += isPlain ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte]).uppercased()
        }
    }

    private static func escape(_ text: String) -> String {
        // Scalars instead of characters, because a combining mark after a ';' would hide it.
        var escapedText = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if escaped.contains(Character(scalar)) { escapedText.append("\\") }
            escapedText.append(scalar)
        }
        return String(escapedText)
    }

    init(wifi text: String) throws(IoTError) {
        let bytes = Array(text.utf8)
        let prefix = Array("WIFI:".utf8)
        guard bytes.count >= prefix.count,
            String(decoding: bytes.prefix(prefix.count), as: UTF8.self).uppercased() == "WIFI:"
        else { throw Self.malformed("the text does not begin with WIFI:") }
        var fields: [String: [UInt8]] = [:]
        var rest = bytes.dropFirst(prefix.count)
        while let first = rest.first, first != UInt8(ascii: ";") {
            let field = try Self.readField(&rest)
            guard fields.updateValue(field.value, forKey: field.name) == nil else {
                throw Self.malformed("a field comes twice")
            }
        }
        // WPA3's percent-encoding (§7 of its specification) applies only if a field of WPA3's own is present: otherwise
        // a '%' is a '%'.
        let isPercentEncoded = fields["R"] != nil || fields["I"] != nil || fields["K"] != nil
        let read = { (name: String) throws(IoTError) -> String? in
            guard var value = fields[name] else { return nil }
            if isPercentEncoded { value = try Self.percentDecode(value) }
            guard let text = String(validating: value, as: UTF8.self) else {
                throw Self.malformed("the field \(name) is not UTF-8")
            }
            return text
        }
        guard let ssid = try read("S"), !ssid.isEmpty else { throw Self.malformed("there is no network name (S)") }
        let security = try read("T")?.uppercased() ?? ""
        self.init(
            ssid: ssid, password: security == "NOPASS" ? "" : try read("P") ?? "",
            isHidden: try read("H")?.lowercased() == "true")
    }

    private static func readField(
        _ rest: inout ArraySlice<UInt8>
    ) throws(IoTError) -> (name: String, value: [UInt8]) {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { throw malformed("a field has no ':'") }
        let name = String(decoding: rest[rest.startIndex..<colon], as: UTF8.self)
        rest = rest[(colon + 1)...]
        // Some writers put quotes around a value; a quote that belongs to the value has a backslash before it.
        let isQuoted = rest.first == UInt8(ascii: "\"")
        var value: [UInt8] = []
        var endsWithBareQuote = false
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: ";"):
                if isQuoted, endsWithBareQuote, value.count >= 2 { value = Array(value.dropFirst().dropLast()) }
                return (name, value)
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { throw malformed("the text ends behind a backslash") }
                value.append(next)
                endsWithBareQuote = false
            default:
                value.append(byte)
                endsWithBareQuote = byte == UInt8(ascii: "\"")
            }
        }
        throw malformed("a field has no ';' at its end")
    }

    private static func percentDecode(_ value: [UInt8]) throws(IoTError) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = value[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard let pair = Hex.decode(digits), pair.count == 1 else {
                throw malformed("a '%' is not followed by two hex digits")
            }
            decoded += pair
            rest = rest.dropFirst(2)
        }
        return decoded
    }
}
