/// `POST /v1/devices`
public struct DeviceRequest: APIRequestBody, Hashable {
    public static let members = ["name", "owner"]

    public var name: String
    /// The account that owns the device. Without it, the device has no owner.
    public var owner: String?

    public init(name: String, owner: String? = nil) {
        self.name = name
        self.owner = owner
    }
}

/// `PATCH /v1/devices/{device}`
public struct DeviceRename: APIRequestBody, Hashable {
    public static let members = ["name"]

    public var name: String

    public init(name: String) {
        self.name = name
    }
}
