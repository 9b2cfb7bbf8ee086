public import IoTCore

/// `POST /v1/devices/{device}/messages`: bytes for a device, which the hub does not interpret.
public struct MessageRequest: APIRequestBody, Hashable {
    public static let members = ["data", "text", "responses", "timeoutMilliseconds", "wake"]
    /// The maximum size in bytes; larger messages fail with 21008.
    public static let maximumSize = 30_000

    /// The message in base64 (RFC 4648 §4); either this or `text`.
    public var data: String?
    /// The message as UTF-8 text.
    public var text: String?
    /// Default `one`.
    public var responses: MessageResponses?
    /// 100 ms to 10 min. Default 10 s.
    public var timeoutMilliseconds: Int?
    /// Whether to wake a sleeping device for the message.
    public var wake: Bool?

    public init(
        data: String? = nil, text: String? = nil, responses: MessageResponses? = nil, timeoutMilliseconds: Int? = nil,
        wake: Bool? = nil
    ) {
        self.data = data
        self.text = text
        self.responses = responses
        self.timeoutMilliseconds = timeoutMilliseconds
        self.wake = wake
    }
}

/// Bytes in base64.
public struct MessageData: Codable, Hashable, Sendable {
    public var data: String

    public init(data: String) {
        self.data = data
    }
}

/// The responses of the device; empty for `none`.
public struct MessageResponse: Codable, Hashable, Sendable {
    public var responses: [MessageData]

    public init(responses: [MessageData]) {
        self.responses = responses
    }
}

/// `POST /v1/server-messages`: a request to the hub with a path, such as `GET/time`.
public struct ServerMessageRequest: APIRequestBody, Hashable {
    public static let members = ["path", "data", "timeoutMilliseconds"]

    /// 1 to 128 bytes.
    public var path: String
    /// Base64.
    public var data: String?
    /// 100 ms to 30 s. Default 10 s.
    public var timeoutMilliseconds: Int?

    public init(path: String, data: String? = nil, timeoutMilliseconds: Int? = nil) {
        self.path = path
        self.data = data
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}
