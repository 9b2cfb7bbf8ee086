public import IoTCore

/// One server-sent event of `GET /v1/cameras/{name}/data`; `event` is its name in the stream.
public struct CameraDataNotice: Codable, Hashable, Sendable {
    public enum Event: String, Codable, Sendable, CaseIterable {
        /// The call may send data from now on.
        case opened
        case message
        /// To be answered with `POST /v1/cameras/{name}/data`.
        case request
        /// The user wants no more responses.
        case finished
        case closed
    }

    public var event: Event
    /// The call's id.
    public var call: String
    /// The account that calls, as `u/NAME`.
    public var user: String
    /// The kind of the channel.
    public var kind: String
    /// The request's number in its call.
    public var request: UInt32?
    /// `one` or `many`; for requests.
    public var responses: MessageResponses?
    /// Base64.
    public var data: String?

    public init(
        _ event: Event, call: String, user: String, kind: ChannelKind, request: UInt32? = nil,
        responses: MessageResponses? = nil, data: String? = nil
    ) {
        self.event = event
        self.call = call
        self.user = user
        self.kind = kind.name
        self.request = request
        self.responses = responses
        self.data = data
    }

    public var serverSentEvent: ServerSentEvent {
        get throws(IoTError) { try ServerSentEvent(name: event.rawValue, encoding: self) }
    }

    /// `nil` for another event.
    public init?(_ event: ServerSentEvent) throws(IoTError) {
        guard Event(rawValue: event.name) != nil else { return nil }
        self = try event.decode(CameraDataNotice.self)
    }
}

/// `POST /v1/cameras/{name}/data`: an answer of the program beside a camera, or a message to the camera's users.
public struct CameraDataRequest: APIRequestBody, Hashable {
    public static let members = ["call", "request", "data", "text", "last", "code", "message", "timeoutMilliseconds"]

    /// Without it, a message goes to all calls where somebody listens.
    public var call: String?
    /// The number of the request that is answered.
    public var request: UInt32?
    /// Base64; either this or `text`. Neither ends a request for many responses.
    public var data: String?
    public var text: String?
    /// Whether it is the request's last response. Default true.
    public var last: Bool?
    /// Ends the request with this error number instead of a response.
    public var code: Int?
    /// What the user reads beside `code`.
    public var message: String?
    /// How long the user's side may take to make room: 100 ms to 10 min. Default 10 s.
    public var timeoutMilliseconds: Int?

    public init(
        call: String? = nil, request: UInt32? = nil, data: String? = nil, text: String? = nil, last: Bool? = nil,
        code: Int? = nil, message: String? = nil, timeoutMilliseconds: Int? = nil
    ) {
        self.call = call
        self.request = request
        self.data = data
        self.text = text
        self.last = last
        self.code = code
        self.message = message
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// To how many calls a message went; 1 for an answer.
public struct CameraDataReport: Codable, Hashable, Sendable {
    public var calls: Int

    public init(calls: Int) {
        self.calls = calls
    }
}
