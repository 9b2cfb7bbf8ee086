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

extension ProvisioningPayload {
    /// The payload as a code holds it.
    ///
    /// Throws `invalidQRInput` that names a wrong field, or one that the format cannot carry; `payloadTooLarge` for a
    /// field longer than the format can say.
    public func encoded(as format: ProvisioningFormat) throws(IoTError) -> [UInt8] {
        try validate()
        return switch format {
        case .tlv: Array(try tlvText().utf8)
        case .wifi: Array(try wifiText().utf8)
        case .wpa3: Array(try wpa3Text().utf8)
        case .json: Array(try jsonText().utf8)
        case .binary: try binaryBytes()
        }
    }

    /// Reads what a code holds. Whether its fields are allowed is `validate()`'s to say.
    ///
    /// Throws `invalidQRInput` for what is not in this format. The message holds nothing of the code, which may be a
    /// password.
    public init(decoding bytes: [UInt8], as format: ProvisioningFormat) throws(IoTError) {
        if format == .binary {
            try self.init(binary: bytes)
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.malformed("the text is not UTF-8") }
        switch format {
        case .tlv: try self.init(tlv: text)
        case .wifi, .wpa3: try self.init(wifi: text)
        case .json, .binary: try self.init(json: text)
        }
    }

    static func malformed(_ reason: String) -> IoTError {
        IoTError(.invalidQRInput, reason)
    }

    /// A field that this format has no place for is refused, not silently dropped.
    static func unsupported(_ field: String, _ format: ProvisioningFormat, use others: String) -> IoTError {
        IoTError(.invalidQRInput, "\(field): the format \(format.rawValue) cannot carry it; use \(others)")
    }

    /// The fields of both TLV forms, by tag.
    init(fields: [Character: String]) throws(IoTError) {
        var fields = fields
        guard let ssid = fields.removeValue(forKey: "0") else { throw Self.malformed("the TLV fields hold no ssid") }
        let password = fields.removeValue(forKey: "1") ?? ""
        let security = fields.removeValue(forKey: "2")
        guard security == nil || (security == "0") == password.isEmpty else {
            throw Self.malformed("the TLV field for the security does not go with the password")
        }
        self.init(
            ssid: ssid, password: password, token: fields.removeValue(forKey: "5"),
            hub: fields.removeValue(forKey: "6"), language: fields.removeValue(forKey: "4"), extras: fields)
    }

    /// The same, in the order in which they are written. With a password, WPA goes without saying, and tag 2 is left
    /// out; an open network says so.
    var fields: [(tag: Character, value: String, name: String)] {
        var fields: [(tag: Character, value: String, name: String)] = [("0", ssid, "ssid")]
        fields.append(password.isEmpty ? ("2", "0", "security") : ("1", password, "password"))
        if let language { fields.append(("4", language, "language")) }
        if let token { fields.append(("5", token, "token")) }
        if let hub { fields.append(("6", hub, "hub")) }
        for (tag, value) in extras.sorted(by: { $0.key < $1.key }) { fields.append((tag, value, "extras \(tag)")) }
        return fields
    }
}
