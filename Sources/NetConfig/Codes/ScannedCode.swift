public import IoTCore

/// What a code that somebody holds before a camera says.
public enum ScannedCode: Sendable, Hashable {
    case network(ProvisioningPayload, ProvisioningFormat)
    case label(EspressifLabel)
    case dpp(DPPAddress)

    /// Tells the forms apart by how they begin.
    ///
    /// Throws `invalidQRInput` for what is none of them, or has a field that no device could use. The message holds
    /// nothing of the code, which may be a password.
    public init(_ bytes: [UInt8]) throws(IoTError) {
        guard bytes.count <= QRCode.maximumByteCount else {
            throw IoTError(.invalidQRInput, "the code holds more than a QR code can")
        }
        if bytes.starts(with: ProvisioningPayload.magic) {
            self = try Self.network(bytes, .binary)
        } else if Self.begins(bytes, with: "DPP:") {
            self = .dpp(try DPPAddress(parsing: try Self.text(bytes)))
        } else if Self.begins(bytes, with: "WIFI:") {
            self = try Self.network(bytes, .wifi)
        } else if bytes.first == UInt8(ascii: "{") {
            let text = try Self.text(bytes)
            let isLabel = (try? JSONValue(parsing: text))?["ver"] != nil
            self = isLabel ? .label(try EspressifLabel(parsing: text)) : try Self.network(bytes, .json)
        } else {
            self = try Self.network(bytes, .tlv)
        }
    }

    private static func network(_ bytes: [UInt8], _ format: ProvisioningFormat) throws(IoTError) -> ScannedCode {
        let payload = try ProvisioningPayload(decoding: bytes, as: format)
        try payload.validate()
        return .network(payload, format)
    }

    private static func text(_ bytes: [UInt8]) throws(IoTError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ProvisioningPayload.malformed("the text is not UTF-8")
        }
        return text
    }

    private static func begins(_ bytes: [UInt8], with prefix: String) -> Bool {
        String(decoding: bytes.prefix(prefix.utf8.count), as: UTF8.self).uppercased() == prefix
    }
}
