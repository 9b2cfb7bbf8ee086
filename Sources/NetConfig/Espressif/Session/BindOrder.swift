public import IoTCore

/// The hub that a device must join, and the token with which the hub finds the account. Descriptions omit the token.
public struct BindOrder: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `iotlink://host:port`
    public let hub: String
    public let token: String

    /// - Throws: `invalidQRInput`; the message names the wrong field and does not contain the token.
    public init(hub: String, token: String) throws(IoTError) {
        // A placeholder name: only the other two fields are checked here.
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

/// The device's progress with the order.
public enum BindState: Sendable, Hashable {
    case unbound
    case waiting
    case bound
    case failed(ErrorCode, message: String)
}

/// A device's identity, as `iotlink-bind` reports it.
public struct DeviceIdentity: Sendable, Hashable {
    public var id: String
    /// SHA-256 of its public signing key; empty until it has one.
    public var keyFingerprint: [UInt8]

    public init(id: String, keyFingerprint: [UInt8] = []) {
        self.id = id
        self.keyFingerprint = keyFingerprint
    }
}
