/// The format of the payload.
public enum ProvisioningFormat: String, Sendable, CaseIterable, Codable {
    /// Fields with a tag character, the length in bytes as two hex digits, and the value: `007HomeNet108password`.
    case tlv
    /// The `WIFI:` form that phones also read, with ZXing's backslashes: `WIFI:T:WPA;S:HomeNet;P:password;;`. Only the
    /// network's name and password.
    case wifi
    /// The same form in the WPA3 specification's syntax, with percent-encoding (§7).
    case wpa3
    /// `{"s":"HomeNet","p":"password","t":"token"}`
    case json
    /// The older form: `IVQR`, a byte for the kind, and fields with one byte each for tag and length, and the value.
    case binary
}
