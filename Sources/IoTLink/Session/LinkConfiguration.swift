public import IoTCore

public import struct NIOCore.TimeAmount

/// The configuration of a link session.
public struct LinkConfiguration: Sendable {
    public var principal: Principal
    /// The JWT, or the file that holds it. The file is re-read before each connection attempt.
    public var token: LinkToken
    public var endpoint: LinkEndpoint
    public var limits: LinkLimits
    /// Whether the session requests a new token at two thirds of the current token's lifetime. `false` when the
    /// application supplies new tokens, with `updateToken` or in the file. The session then ends as `tokenFailed` if no
    /// new token comes in time.
    public var renewsToken = true
    /// Called with each renewed token, before the session uses it, on a task of `run()`. If the token is in a file, the
    /// file has been replaced before.
    public var onTokenRenewed: (@Sendable (String) -> Void)?
    /// Of a device: called with its owner's number, which grows with each new owner, when the session begins and when
    /// the owner changes, before any later request is handled. It must not block or call the session.
    public var onOwnership: (@Sendable (Int64) -> Void)?
    /// Of a device: called when the session begins, with what it needs to check grants without the hub. It must not block
    /// or call the session.
    public var onGrantTrust: (@Sendable (GrantTrust) -> Void)?
    /// Of a device: called when somebody's rights to it are withdrawn. It must not block or call the session.
    public var onRightsWithdrawn: (@Sendable (RightsWithdrawn) -> Void)?

    public init(
        principal: Principal, token: LinkToken, endpoint: LinkEndpoint, limits: LinkLimits = LinkLimits()
    ) {
        self.principal = principal
        self.token = token
        self.endpoint = endpoint
        self.limits = limits
    }
}

/// The time limits and bounds of a link session.
public struct LinkLimits: Sendable {
    /// The longest time from connecting until online; default 10 s.
    public var connectTimeout: TimeAmount = .seconds(10)
    /// `session.begin` is repeated after this time without an answer; the time doubles at each repeat. Default 1 s.
    public var beginInterval: TimeAmount = .seconds(1)
    /// The interval of heartbeat requests and of MQTT's keep-alive; default 15 s.
    public var heartbeatInterval: TimeAmount = .seconds(15)
    /// The connection ends after this many heartbeats without an answer; default 2.
    public var heartbeatsMissed = 2
    /// The longest first pause before reconnecting; default 0.2 s. Each failure doubles it.
    public var backoffBase: TimeAmount = .milliseconds(200)
    /// The longest pause before reconnecting; default 30 s.
    public var backoffCap: TimeAmount = .seconds(30)
    /// Each period of this length online takes one doubling back; default 1 s.
    public var backoffRecovery: TimeAmount = .seconds(1)
    /// The longest time for an orderly disconnect; default 2 s.
    public var leaveTimeout: TimeAmount = .seconds(2)
    /// The maximum number of our requests that wait for an answer; default 512. Requests in the name of other accounts
    /// are limited to 48 for each account and 384 together, so that there is always room for our own. Further requests
    /// fail with 25024.
    public var pendingRequests = QuotaBound(total: 512, each: 48, reserve: 128)
    /// A request is repeated after this time without an answer; the time doubles at each repeat. Default 3 s.
    public var repeatInterval: TimeAmount = .seconds(3)
    /// The maximum number of others' requests that run at the same time; default 64. Further ones are answered with
    /// 25024.
    public var runningRequests = 64
    /// The maximum number of answers to one request of another principal; default 1,024.
    public var answersPerRequest = 1024
    /// How long an answer is remembered for a repeated request; default 10 min.
    public var answerMemory: TimeAmount = .minutes(10)
    /// The maximum number of remembered answers; default 1,024. Then the oldest is forgotten.
    public var rememberedAnswers = 1024
    /// The maximum bytes of remembered answers; default 4 MiB. Then the oldest answer is forgotten.
    public var rememberedAnswerBytes = 4 << 20
    /// The maximum number of pushes that wait for a slow reader; default 256. Then the oldest is dropped and counted.
    public var waitingPushes = 256
    /// The maximum number of answers of a multi-answer request that wait for a slow reader; default 64. One more ends
    /// the request with 25022.
    public var waitingAnswers = 64

    public init() {}
}
