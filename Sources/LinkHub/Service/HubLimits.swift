public import struct NIOCore.TimeAmount

/// Limits on what principals may do.
public struct HubLimits: Sendable {
    /// Messages that wait for the hub's thread: 8,192. Further requests are answered with 25024.
    public var waitingMessages = 8_192
    /// Bytes of the waiting messages: 64 MiB.
    public var waitingBytes = 64 << 20
    /// Messages of one transaction, and bytes at which it ends: 512 and 512 KiB. Later requests wait for it.
    public var batchSize = 512
    public var batchBytes = 512 << 10
    /// Messages a second of one principal, and the burst it may send: 20,000, where each 4 KiB of a message count as
    /// one more. Further messages are not read: requests are answered with 25024, others dropped.
    public var requestsPerSecond = 20_000
    /// Messages of one principal that wait, and their bytes: 2,048 and 16 MiB.
    public var waitingMessagesOfPrincipal = 2_048
    public var waitingBytesOfPrincipal = 16 << 20
    /// Lists and deletions of stored events that wait for the store in one principal's name: 128, more than a gateway
    /// has requests of one account in progress. Further ones are answered with 25024.
    public var waitingReadsOfPrincipal = 128
    /// Forwarded requests that wait for an answer: 10,000. Further requests are answered with 25024.
    public var pendingForwards = 10_000
    /// The part of them that is reserved for the daemon's own account and the hub's own requests: 1,000.
    public var forwardsReserved = 1_000
    /// The forwarded requests of one sender (account or device): 1,024.
    public var forwardsOfSender = 1_024
    /// The forwarded requests to one account or device, without those of the device's owner: 1,024.
    public var forwardsToTarget = 1_024
    /// The forwarded requests of one sender to one target: 256, four times what our devices run at once.
    public var forwardsOfPair = 256
    /// Open calls: 65,536. Further calls are refused with 25024.
    public var calls = 65_536
    /// The part of them that is reserved for the daemon's own account: 8,192.
    public var callsReserved = 8_192
    /// Open calls of one account: 4,096.
    public var callsOfAccount = 4_096
    /// Open calls to one device: 10,240, more than a camera may be set to serve.
    public var callsOfDevice = 10_240
    /// How long a session may be silent before it ends: 60 s, four heartbeats.
    public var sessionSilence: TimeAmount = .seconds(60)
    /// The same after the hub had lost its broker, because messages that end a session may be lost too: 30 s.
    public var sessionSilenceAfterOutage: TimeAmount = .seconds(30)
    /// Lifetime of a call token, in seconds: 60.
    public var callTokenSeconds: Int64 = 60
    /// How long a grant for a device's own network is valid; default a week.
    public var lanGrantSeconds: Int64 = 604_800
    /// Tokens of one principal: 256. Further ones are refused with 25024.
    public var tokensOfPrincipal = 256
    /// Bytes of the stored answers that are remembered for one principal, and for all: 32 and 64 MiB. Then the oldest
    /// answers of that principal, or of the one with most, are forgotten.
    public var answerBytesOfPrincipal = 32 << 20
    public var answerBytes = 64 << 20
    /// The same for answers of requests that changed nothing, which are kept in memory: 4 and 8 MiB.
    public var recentAnswerBytesOfPrincipal = 4 << 20
    public var recentAnswerBytes = 8 << 20
    /// Bytes of the bodies of one device's events: 16 MiB. Then its oldest events are deleted.
    public var eventBytesOfDevice = 16 << 20
    /// Media keys of one account: 100. Further ones are refused with 25024.
    public var keysOfAccount = 100
    /// Releases of firmware, and the bytes of their files: 64 and 2 GiB. Further ones are refused with 25146.
    public var releases = 64
    public var releaseBytes: Int64 = 2 << 30
    /// Accounts of the hub: 10,000. Further ones are refused with 25024.
    public var accounts = 10_000
    /// Devices of the hub: 10,000. Further ones are refused with 25024.
    public var devices = 10_000
    /// Accounts that one device is bound to: 1,000, whose list fits an answer. Further ones are refused with 25024.
    public var bindingsOfDevice = 1_000
    /// Lifetime of the tokens that an enrolment is exchanged for, in seconds: 90 days. Clients renew them before they
    /// expire.
    public var joinedTokenSeconds: Int64 = 90 * 86_400
    /// How long a call token is still accepted after its `exp`, in seconds: 60. Link and API tokens have no leeway,
    /// because the hub that issued them reads the same clock.
    public var tokenLeeway: Int64 = 60

    public init() {}
}
