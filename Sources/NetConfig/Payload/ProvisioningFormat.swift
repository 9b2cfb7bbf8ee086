/// The format of the payload.
public enum ProvisioningFormat: String, Sendable, CaseIterable, Codable {
    /// Fields with a tag character, the length in bytes as two hex digits, and the value: `007HomeNet108password`.
    case tlv
    /// The `WIFI:` format that phones also read, with backslash escapes (ZXing): `WIFI:T:WPA;S:HomeNet;P:password;;`.
    /// Network name, password and hidden only.
    case wifi
    /// The `WIFI:` format of the WPA3 specification §7, with percent-encoding.
    case wpa3
    /// `{"s":"HomeNet","p":"password","t":"token"}`
    case json
    /// The older form: `IVQR`, a byte for the kind, then fields: tag (1 byte), length (1 byte), value.
    case binary
}
