public import IoTCore

extension ProvisioningPayload {
    /// Throws `invalidQRInput`; the message begins with the name of the wrong field.
    public func validate() throws(IoTError) {
        try validateSSID()
        try validatePassword()
        if let token {
            try require(!token.isEmpty, "token: it is empty; leave it out or give one")
            try refuseControls(token, "token")
        }
        if let hub { try validateHub(hub) }
        if let language {
            let allowed = language.utf8.allSatisfy { Self.isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x5F }
            try require(
                allowed && (1...35).contains(language.utf8.count),
                "language: it is not a language tag; write one like zh-CN")
        }
        for (tag, value) in extras.sorted(by: { $0.key < $1.key }) {
            try require(
                Self.extraTags.contains(tag), "extras: a tag must be one of A to Z, 3, 7, 8 and 9")
            try refuseControls(value, "extras \(tag)")
        }
    }

    /// Valid properties that may cause problems with cheap cameras.
    var warnings: [String] {
        var warnings: [String] = []
        if ssid != ssid.trimmingSpaces { warnings.append("ssid: it begins or ends with a space") }
        if !password.utf8.allSatisfy({ $0 < 0x80 }) {
            warnings.append(
                "password: it holds characters outside ASCII, which IEEE 802.11 does not foresee;"
                    + " some devices refuse it"
            )
        }
        if password.isEmpty { warnings.append("password: there is none, so the network is taken to be open") }
        return warnings
    }

    private func validateSSID() throws(IoTError) {
        let length = ssid.utf8.count
        try require(length > 0, "ssid: it is empty; give the network's name")
        try require(
            length <= 32,
            "ssid: it has \(length) bytes of UTF-8; a network's name has at most 32 (IEEE 802.11 §9.4.2.2)")
        try refuseControls(ssid, "ssid")
    }

    /// By the standard, a passphrase has 8 to 63 ASCII characters. Networks with other characters exist; for them the
    /// number of UTF-8 bytes counts. 64 hex digits are the key itself.
    private func validatePassword() throws(IoTError) {
        guard !password.isEmpty else { return }
        let length = password.utf8.count
        let isKey = length == 64 && Hex.decode(password) != nil
        try require(
            (8...63).contains(length) || isKey,
            "password: it has \(length) bytes; a WPA password has 8 to 63, or is 64 hex digits")
        try refuseControls(password, "password")
    }

    private func validateHub(_ hub: String) throws(IoTError) {
        try refuseControls(hub, "hub")
        let parts = hub.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let isURL =
            parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty && !hub.contains(" ")
            && parts[0].utf8.allSatisfy { Self.isLetterOrDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
        try require(isURL, "hub: it is not a URL; write one like iotlink://192.168.1.10:8883")
    }

    private func refuseControls(_ text: String, _ field: String) throws(IoTError) {
        let isClean = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        try require(isClean, "\(field): it holds a control character, such as a line's end; remove it")
    }

    private func require(_ condition: Bool, _ message: String) throws(IoTError) {
        guard condition else { throw IoTError(.invalidQRInput, message) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}

extension String {
    var trimmingSpaces: String {
        var rest = self[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
