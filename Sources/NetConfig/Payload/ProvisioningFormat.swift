/// How the payload is written.
public enum ProvisioningFormat: String, Sendable, CaseIterable, Codable {
    /// Fields of a tag character, the length in bytes as two hex digits, and the value: `007HomeNet108password`.
    case tlv
    /// The `WIFI:` address that phones read too, with ZXing's backslashes: `WIFI:T:WPA;S:HomeNet;P:password;;`. Network
    /// name and password only.
    case wifi
    /// The same as the WPA3 specification writes it, with percent-encoding (§7).
    case wpa3
    /// `{"s":"HomeNet","p":"password","t":"token"}`
    case json
    /// The older form: `IVQR`, a byte for the kind, and fields of a byte each for tag and length, and the value.
    case binary
}
