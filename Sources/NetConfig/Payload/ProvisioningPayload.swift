public import IoTCore

/// What a camera reads from a provisioning QR code: a Wi-Fi network, and how to reach its hub.
public struct ProvisioningPayload: Sendable, Hashable {
    /// The network's name: 1 to 32 bytes of UTF-8.
    public var ssid: String

    /// The WPA password: 8 to 63 bytes of UTF-8, or 64 hex digits; empty for an open network.
    public var password: String

    /// The provisioning token by which the hub knows who provisions the device.
    public var token: String?

    /// The hub's address, as a URL.
    public var hub: String?

    /// The device's language: `zh-CN`.
    public var language: String?

    /// Whether the network does not announce its name. Only the Wi-Fi format carries it.
    public var isHidden: Bool

    /// Vendor fields by tag: `A` to `Z`; and `3`, `7`, `8`, `9`, which are the user's and the platform's.
    public var extras: [Character: String]

    public init(
        ssid: String, password: String = "", token: String? = nil, hub: String? = nil, language: String? = nil,
        isHidden: Bool = false, extras: [Character: String] = [:]
    ) {
        self.ssid = ssid
        self.password = password
        self.token = token
        self.hub = hub
        self.language = language
        self.isHidden = isHidden
        self.extras = extras
    }

    /// The tags that `extras` may have.
    static let extraTags = "3789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
}

/// How the payload is written.
public enum ProvisioningFormat: String, Sendable, CaseIterable, Codable {
    /// Fields of a tag character, the length in bytes as two hex digits, and the value: `007HomeNet108password`.
    case tlv
    /// The `WIFI:` address that phones read too: `WIFI:T:WPA;S:HomeNet;P:password;;`. Network name and password only.
    case wifi
    /// `{"s":"HomeNet","p":"password","t":"token"}`
    case json
}

extension ProvisioningPayload {
    /// The payload's text.
    ///
    /// Throws `invalidQRInput` that names a wrong field, or one that the format cannot carry; `payloadTooLarge` for a
    /// field longer than the format can say.
    public func encoded(as format: ProvisioningFormat) throws(IoTError) -> String {
        try validate()
        return switch format {
        case .tlv: try tlvText()
        case .wifi: try wifiText()
        case .json: try jsonText()
        }
    }

    /// Reads a payload's text. Whether its fields are allowed is `validate()`'s to say.
    ///
    /// Throws `invalidQRInput` for text that is not in this format.
    public init(decoding text: String, as format: ProvisioningFormat) throws(IoTError) {
        switch format {
        case .tlv: try self.init(tlv: text)
        case .wifi: try self.init(wifi: text)
        case .json: try self.init(json: text)
        }
    }

    static func malformed(_ reason: String) -> IoTError {
        IoTError(.invalidQRInput, reason)
    }

    /// A field that this format has no place for is refused, not silently dropped.
    static func unsupported(_ field: String, _ format: ProvisioningFormat, use others: String) -> IoTError {
        IoTError(.invalidQRInput, "\(field): the format \(format.rawValue) cannot carry it; use \(others)")
    }
}
