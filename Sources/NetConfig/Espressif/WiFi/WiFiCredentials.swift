public import IoTCore

/// A validated network name and password. Descriptions omit the password.
public struct WiFiCredentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let ssid: String
    /// Empty for an open network.
    public let password: String

    /// - Throws: `invalidQRInput`; the message names the wrong field and does not contain the password.
    public init(ssid: String, password: String) throws(IoTError) {
        try ProvisioningPayload(ssid: ssid, password: password).validate()
        self.ssid = ssid
        self.password = password
    }

    public var description: String { "a network with \(password.isEmpty ? "no" : "a") password" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
