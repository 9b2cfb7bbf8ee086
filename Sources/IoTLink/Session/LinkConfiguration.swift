public import IoTCore
public import struct NIOCore.TimeAmount

/// What a link session needs to know.
public struct LinkConfiguration: Sendable {
    public var principal: Principal
    /// The JWT itself, or the file that holds it. A file is read again at every attempt to connect.
    public var token: LinkToken
    public var endpoint: LinkEndpoint
    public var limits: LinkLimits
    /// Whether the session asks for a new token at two thirds of the present one's life. `false` where somebody else
    /// brings new ones, with `updateToken` or in the file: then it ends as `tokenFailed` when none came in time.
    public var renewsToken = true
    /// Called with each renewed token, before the session uses it, on a task of `run()`; `nil` for nothing to do. A
    /// token that came from a file has then replaced it there.
    public var onTokenRenewed: (@Sendable (String) -> Void)?

    public init(
        principal: Principal, token: LinkToken, endpoint: LinkEndpoint, limits: LinkLimits = LinkLimits()
    ) {
        self.principal = principal
        self.token = token
        self.endpoint = endpoint
        self.limits = limits
    }
}

/// The times and bounds of a link session.
public struct LinkLimits: Sendable {
    /// From the first byte of a connection to online: 10 s.
    public var connectTimeout: TimeAmount = .seconds(10)
    /// After so long without an answer `session.begin` is sent again, then after twice as long each time: 1 s.
    public var beginInterval: TimeAmount = .seconds(1)
    /// Between two heartbeat requests, also MQTT's keep-alive: 15 s.
    public var heartbeatInterval: TimeAmount = .seconds(15)
    /// So many heartbeats without an answer end the connection: 2.
    public var heartbeatsMissed = 2
    /// The longest first pause before reconnecting: 0.2 s. Each failure doubles it.
    public var backoffBase: TimeAmount = .milliseconds(200)
    /// The longest pause of all: 30 s.
    public var backoffCap: TimeAmount = .seconds(30)
    /// Each time that a session was online for so long takes one doubling back: 1 s.
    public var backoffRecovery: TimeAmount = .seconds(1)
    /// Saying goodbye takes at most so long: 2 s.
    public var leaveTimeout: TimeAmount = .seconds(2)
    /// Requests of ours that wait for an answer: 512, of which those made in another account's name take at most 48
    /// each and 384 together, so that our own always find room; one more is 25024.
    public var pendingRequests = QuotaBound(total: 512, each: 48, reserve: 128)
    /// After so long without an answer a request is sent again, then after twice as long each time: 3 s.
    public var repeatInterval: TimeAmount = .seconds(3)
    /// Requests of others that run at the same time: 64; one more is answered with 25024.
    public var runningRequests = 64
    /// Answers that one request of others may get: 1,024.
    public var answersPerRequest = 1024
    /// How long an answer of ours is remembered for a repeated request: 10 min.
    public var answerMemory: TimeAmount = .minutes(10)
    /// So many answers are remembered: 1,024; then the oldest is forgotten.
    public var rememberedAnswers = 1024
    /// So many bytes of answers are remembered: 4 MiB; then the oldest is forgotten.
    public var rememberedAnswerBytes = 4 << 20
    /// Pushes that wait for a slow reader: 256; then the oldest is dropped and counted.
    public var waitingPushes = 256
    /// Answers of one multi-answer request that wait for a slow reader: 64; one more ends it with 25022.
    public var waitingAnswers = 64

    public init() {}
}
