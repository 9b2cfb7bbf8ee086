/// One request of the client over HTTP.
struct ProvisioningRequest: Sendable, Hashable {
    var endpoint: String
    /// `session=…`
    var cookie: String?
    var body: [UInt8]

    init(endpoint: String, cookie: String? = nil, body: [UInt8]) {
        self.endpoint = endpoint
        self.cookie = cookie
        self.body = body
    }
}

/// The device's answer to it.
struct ProvisioningReply: Sendable, Hashable {
    /// The HTTP status: 200 for success.
    var status: Int
    /// The cookie of a new session, from `Set-Cookie`.
    var cookie: String?
    /// Seconds, from `Retry-After`.
    var retryAfter: Int?
    var body: [UInt8]

    init(status: Int, cookie: String? = nil, retryAfter: Int? = nil, body: [UInt8] = []) {
        self.status = status
        self.cookie = cookie
        self.retryAfter = retryAfter
        self.body = body
    }

    /// The maximum size of a body in bytes, in both directions: the limit of Espressif's devices for a request.
    static let largestBody = 4096
}
