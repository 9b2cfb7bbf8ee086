public import IoTCore

/// A network's name and password, which were checked. The password is in no description.
public struct WiFiCredentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let ssid: String
    /// Empty for an open network.
    public let password: String

    /// - Throws: `invalidQRInput` whose message names the wrong field and holds no password.
    public init(ssid: String, password: String) throws(IoTError) {
        try ProvisioningPayload(ssid: ssid, password: password).validate()
        self.ssid = ssid
        self.password = password
    }

    public var description: String { "a network with \(password.isEmpty ? "no" : "a") password" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
