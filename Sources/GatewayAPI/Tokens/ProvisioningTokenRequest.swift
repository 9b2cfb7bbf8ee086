/// `POST /v1/net/tokens`; answered with a `ProvisioningToken`.
public struct ProvisioningTokenRequest: APIRequestBody, Hashable {
    public static let members = ["device", "ttlSeconds"]

    /// A device of the caller's that is to be provisioned again, by id or name; when absent, the one that comes.
    public var device: String?
    /// 1 to 3600; 300 when absent.
    public var ttlSeconds: Int64?

    public init(device: String? = nil, ttlSeconds: Int64? = nil) {
        self.device = device
        self.ttlSeconds = ttlSeconds
    }
}
