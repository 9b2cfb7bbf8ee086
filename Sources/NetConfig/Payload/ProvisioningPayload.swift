public import IoTCore

/// The content of a provisioning QR code for a camera: a Wi-Fi network, and how to reach the hub.
public struct ProvisioningPayload: Sendable, Hashable {
    /// The network's name: 1 to 32 bytes of UTF-8.
    public var ssid: String

    /// The WPA password: 8 to 63 bytes of UTF-8, or 64 hex digits; empty for an open network.
    public var password: String

    /// The provisioning token, with which the hub finds the account of the user who provisions the device.
    public var token: String?

    /// The hub's address, as a URL.
    public var hub: String?

    /// The device's language, for example `zh-CN`.
    public var language: String?

    /// Whether the network's name is hidden. Only the Wi-Fi format contains it.
    public var isHidden: Bool

    /// Vendor fields by tag: `A` to `Z`; and `3`, `7`, `8`, `9`, which are for the user and the platform.
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

    /// The valid tags of `extras`.
    static let extraTags = "3789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
}

extension ProvisioningPayload {
    /// The payload in the code's format.
    ///
    /// Throws `invalidQRInput` that names a wrong field, or one that the format does not support; `payloadTooLarge` for
    /// a field longer than the format allows.
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

    /// Parses a code's content. `validate()` checks the fields.
    ///
    /// Throws `invalidQRInput` for another format. The message contains nothing of the code, which may be a
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

    /// Fields that the format does not support are refused, not silently dropped.
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

    /// The same, in the order in which they are written. A password implies WPA, so tag 2 is omitted; an open network
    /// has it.
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
