public import IoTCore

/// The signing key of a device, as this gateway keeps it for the account.
public struct DeviceKeyDescription: Codable, Hashable, Sendable {
    /// The one that is kept; from the hub where none is.
    public var fingerprint: KeyFingerprint
    /// How the account learned it.
    public var source: KeySource
    /// Since when it is kept, in ms since 1970; `nil` when it could not be kept.
    public var since: Int64?
    /// 25080 when the hub now says another key than the kept one.
    public var failure: APIError?

    public init(fingerprint: KeyFingerprint, source: KeySource, since: Int64?, failure: IoTError? = nil) {
        self.fingerprint = fingerprint
        self.source = source
        self.since = since
        self.failure = failure.map(APIError.init)
    }
}

/// `PUT /v1/devices/{device}/key`
public struct DeviceKeyRequest: APIRequestBody, Hashable {
    public static let members = ["fingerprint", "source"]

    public var fingerprint: KeyFingerprint
    /// `ap` or `lan`: what the hub says needs no request.
    public var source: KeySource

    public init(fingerprint: KeyFingerprint, source: KeySource) {
        self.fingerprint = fingerprint
        self.source = source
    }
}
