/// `POST /v1/net/tokens`; the response is a `ProvisioningToken`.
public struct ProvisioningTokenRequest: APIRequestBody, Hashable {
    public static let members = ["device", "ttlSeconds"]

    /// The caller's device that must enrol again, by id or name; when absent, a new device.
    public var device: String?
    /// 1 to 3600; 300 when absent.
    public var ttlSeconds: Int64?

    public init(device: String? = nil, ttlSeconds: Int64? = nil) {
        self.device = device
        self.ttlSeconds = ttlSeconds
    }
}
