public import IoTCore

/// The signing key of a device, as this gateway stores it for the account.
public struct DeviceKeyDescription: Codable, Hashable, Sendable {
    /// The stored fingerprint; without one, the fingerprint that the hub reports.
    public var fingerprint: KeyFingerprint
    /// How the account learned it.
    public var source: KeySource
    /// When it was stored, in ms since 1970; `nil` if it is not stored.
    public var since: Int64?
    /// The key before it, which has signed it; `nil` if it was not replaced since it was learned.
    public var previous: KeyFingerprint?
    /// 25080 if the hub now reports another key than the stored one; otherwise why the key could not be stored.
    public var failure: APIError?

    public init(
        fingerprint: KeyFingerprint, source: KeySource, since: Int64?, previous: KeyFingerprint? = nil,
        failure: IoTError? = nil
    ) {
        self.fingerprint = fingerprint
        self.source = source
        self.since = since
        self.previous = previous
        self.failure = failure.map(APIError.init)
    }
}

/// `PUT /v1/devices/{device}/key`
public struct DeviceKeyRequest: APIRequestBody, Hashable {
    public static let members = ["fingerprint", "source"]

    public var fingerprint: KeyFingerprint
    /// `ap` or `lan`. The key that the hub reports is stored without a request.
    public var source: KeySource

    public init(fingerprint: KeyFingerprint, source: KeySource) {
        self.fingerprint = fingerprint
        self.source = source
    }
}
