public import IoTCore

/// Which hub a device joins, and the token by which the hub knows for whom. The token is in no description.
public struct BindOrder: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `iotlink://host:port`
    public let hub: String
    public let token: String

    /// - Throws: `invalidQRInput` whose message names the wrong field and holds no token.
    public init(hub: String, token: String) throws(IoTError) {
        // The name stands for any: what is looked at here are the other two.
        try ProvisioningPayload(ssid: "x", token: token, hub: hub).validate()
        guard hub.utf8.count <= 1024, token.utf8.count <= 1024 else {
            throw IoTError(.invalidQRInput, "hub and token: each has at most 1024 bytes")
        }
        self.hub = hub
        self.token = token
    }

    public var description: String { "an order to join \(hub)" }
    public var customMirror: Mirror { Mirror(self, children: ["hub": hub]) }
}

/// How far a device has come with it.
public enum BindState: Sendable, Hashable {
    case unbound
    case waiting
    case bound
    case failed(ErrorCode, message: String)
}

/// Who a device is, as `iotlink-bind` reports it.
public struct DeviceIdentity: Sendable, Hashable {
    public var id: String
    /// SHA-256 of the public half of its signing key; empty while it has none.
    public var keyFingerprint: [UInt8]

    public init(id: String, keyFingerprint: [UInt8] = []) {
        self.id = id
        self.keyFingerprint = keyFingerprint
    }
}
