public import IoTCore

/// The content of a code that was shown to a camera.
public enum ScannedCode: Sendable, Hashable {
    case network(ProvisioningPayload, ProvisioningFormat)
    case label(EspressifLabel)
    case dpp(DPPAddress)

    /// Recognises the form by its beginning.
    ///
    /// Throws `invalidQRInput` for an unknown form, or a field that no device accepts. The message contains nothing of
    /// the code, which may be a password.
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
