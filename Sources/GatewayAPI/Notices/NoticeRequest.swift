public import IoTCore

/// `PUT /v1/notices`: where this gateway tells an account that a device goes offline or online.
public struct NoticeRequest: APIRequestBody, Hashable {
    public static let members = ["url"]

    /// `http` or `https`, at most 512 characters. It can contain a secret of the receiver.
    public var url: String

    public init(url: String) {
        self.url = url
    }
}

/// `GET /v1/notices`
public struct NoticeDescription: Codable, Hashable, Sendable {
    public var url: String
    /// Since the daemon's start: notices that the receiver has taken.
    public var sent: Int
    /// Notices that it has not taken after the last attempt.
    public var failed: Int
    /// Notices that were left out, because too many were waiting or too many had been sent.
    public var dropped: Int
    /// Why the last notice failed; `nil` after a success.
    public var failure: APIError?

    public init(url: String, sent: Int = 0, failed: Int = 0, dropped: Int = 0, failure: IoTError? = nil) {
        self.url = url
        self.sent = sent
        self.failed = failed
        self.dropped = dropped
        self.failure = failure.map(APIError.init)
    }
}

/// The body that the receiver gets by POST.
public struct OfflineNotice: Codable, Hashable, Sendable {
    public enum Event: String, Codable, Sendable {
        case offline
        case online
    }

    public var event: Event
    /// The device's id.
    public var device: String
    public var name: String
    /// The account that gets the notice.
    public var account: String
    /// ms since 1970.
    public var t: Int64

    public init(_ event: Event, device: String, name: String, account: String, t: Int64) {
        self.event = event
        self.device = device
        self.name = name
        self.account = account
        self.t = t
    }
}
