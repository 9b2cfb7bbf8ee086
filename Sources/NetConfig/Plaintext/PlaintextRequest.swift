import IoTCore

/// A message of the plaintext scheme from the client: `{"cmdType":1,"ssid":…,"password":…,"token":…,"region":…}` in one
/// datagram. `description` contains neither the password nor the token.
struct PlaintextRequest: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    var credentials: WiFiCredentials
    /// Empty if there is none.
    var token: String
    /// The cloud that issued the token. For our hubs, the hub's address: `iotlink://host:port`.
    var region: String?

    /// The maximum size in bytes of a message in either direction, which fits into one packet.
    static let largest = 1_400

    init(credentials: WiFiCredentials, token: String = "", region: String? = nil) {
        self.credentials = credentials
        self.token = token
        self.region = region
    }

    /// - Throws: `provisioningRefused`, `invalidQRInput`. The messages contain nothing from the datagram.
    init(parsing datagram: [UInt8]) throws(IoTError) {
        guard datagram.count <= Self.largest, let value = try? JSONValue(parsing: datagram),
            value["cmdType"] == 1, let ssid = value["ssid"]?.stringValue,
            let password = value["password"]?.stringValue, let token = value["token"]?.stringValue
        else { throw IoTError(.provisioningRefused, "the datagram is not a request of the plaintext scheme") }
        if let region = value["region"], region != .null, region.stringValue == nil {
            throw IoTError(.provisioningRefused, "the region must be a string")
        }
        self.init(
            credentials: try WiFiCredentials(ssid: ssid, password: password), token: token,
            region: value["region"]?.stringValue)
    }

    var bytes: [UInt8] {
        var message: JSONValue = [
            "cmdType": 1, "ssid": .string(credentials.ssid), "password": .string(credentials.password),
            "token": .string(token),
        ]
        if let region { message["region"] = .string(region) }
        return message.jsonBytes
    }

    var description: String { "a plaintext request for \(credentials)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
