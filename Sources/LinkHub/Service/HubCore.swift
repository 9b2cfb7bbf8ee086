import IoTCore
import IoTLink
import NIOCore
import ThingModel

/// The hub's decisions: what a message from a principal changes, and whom the hub notifies of it. This is a value
/// without a socket, clock or database: it takes a message and a time, and returns rows to store and messages to send
/// afterwards.
///
/// The sender is read only from the topic, which the broker ties to the credentials. What a message says about its own
/// sender is ignored.
struct HubCore: Sendable {
    let limits: HubLimits
    let authority: TokenAuthority
    let identity: HubIdentity
    let methods: HubMethods

    var state: HubState
    var sessions = SessionTable()
    var forwards = ForwardTable()
    var recent: RecentAnswers
    var rates: [Principal: RequestRate] = [:]
    /// When each principal last renewed its token.
    var renewals: [Principal: NIODeadline] = [:]
    /// The enrolments that were exchanged in the last minute.
    var exchanged: [String: Exchanged] = [:]
    /// Provisioning tokens that were used up by a device that could not be bound.
    var failedProvisionings: [String: FailedProvisioning] = [:]
    /// Tokens and keys with a last use that is newer than the store's: s since 1970.
    var used: [ShownCredential: Int64] = [:]
    var kept = Kept()
    var statistics = HubStatistics()
    /// The devices with a running query for excess events.
    var trimming: Set<DeviceID> = []
    /// The requests with a running query, and the newest session that waits for each answer.
    var asked: [AnswerIndex.Key: HubTurn.Requester] = [:]
    /// The events that were deleted since the last read from the store.
    var deletedEvents: Set<Int64> = []

    /// What the current message has done so far.
    var turn = HubTurn()
    /// The notices to send at the end of the transaction.
    var notices = PropertyNotices()

    /// When the first temporary account or enrolment expires: s since 1970.
    var nextAccountExpiry: Int64?
    /// When to look next for events that have expired.
    var eventExpiry: NIODeadline?
    private var lastExpiry: NIODeadline?
    private var hasStarted = false

    init(
        state: HubState, authority: TokenAuthority, identity: HubIdentity = HubIdentity(),
        limits: HubLimits = HubLimits(), methods: HubMethods = .all
    ) {
        self.state = state
        self.authority = authority
        self.identity = identity
        self.limits = limits
        self.methods = methods
        recent = RecentAnswers(limits)
        limitAnswers()
        updateAccountExpiry()
    }

    /// - Parameter isRetry: Whether this message was decided before but could not be stored.
    mutating func handle(_ message: UplinkMessage, isRetry: Bool = false, at time: HubTime) -> HubTurn {
        turn = HubTurn()
        // The topic identifies the sender, so excess messages are refused before they cost anything.
        guard isRetry || takeRate(message, at: time) else {
            refuse(message, IoTError(.tooManyRequests, "too many requests a second")) { $0.refusedRequests += 1 }
            return turn
        }
        let envelope: Envelope
        do {
            envelope = try Envelope(parsing: message.payload)
        } catch {
            refuse(message, error) { $0.ignoredMessages += 1 }
            return turn
        }
        switch envelope {
        case .request(let request): handle(request, from: message.address, at: time)
        case .reply(let reply): handle(reply, from: message.address, at: time)
        case .push(let push): handle(push, from: message.address, at: time)
        }
        return turn
    }

    /// Handles the store's result of a turn's query.
    mutating func handle(_ result: HubQueryResult, at time: HubTime) -> HubTurn {
        turn = HubTurn()
        switch result {
        case .answer(let stored, let number, let request, let address):
            conclude(stored, number, to: request, from: address, at: time)
        case .events(let rows, let purpose): conclude(purpose, rows, at: time)
        }
        return turn
    }

    /// Runs one of the daemon's own calls.
    mutating func handle<Result>(
        _ body: (inout HubCore) throws(IoTError) -> Result
    ) throws(IoTError) -> (Result, HubTurn) {
        turn = HubTurn()
        let result = try body(&self)
        return (result, turn)
    }

    mutating func limitAnswers() {
        state.answers.limit(toBytesOfOne: limits.answerBytesOfPrincipal, bytes: limits.answerBytes)
    }

    // MARK: Time

    /// Makes the next time-out run all periodic work again.
    mutating func forgetTimes() {
        hasStarted = false
        eventExpiry = nil
        lastExpiry = nil
    }

    /// When to call `handleTimeout` next; `nil` for not before the next message.
    func nextTimeout(at time: HubTime) -> NIODeadline? {
        var next = forwards.nextDeadline
        if !sessions.isEmpty { next = min(next ?? .distantFuture, time.monotonic + .seconds(5)) }
        if state.answers.count > 0 { next = min(next ?? .distantFuture, time.monotonic + .seconds(30)) }
        // To the millisecond, so that the credential of an expired token leaves the broker at once. After at most a
        // minute it is checked again, because the wall clock may be set.
        for expiry in [state.tokens.nextExpiry, state.keys.nextExpiry, nextAccountExpiry] {
            guard let expiry else { continue }
            let left = min(60_000, max(1, expiry * 1_000 - time.wall))
            next = min(next ?? .distantFuture, time.monotonic + .milliseconds(left))
        }
        if let due = nextEventExpiry(at: time) { next = min(next ?? .distantFuture, due) }
        if !used.isEmpty { next = min(next ?? .distantFuture, time.monotonic + .seconds(1)) }
        if !exchanged.isEmpty { next = min(next ?? .distantFuture, time.monotonic + .seconds(5)) }
        return next
    }

    mutating func handleTimeout(at time: HubTime) -> HubTurn {
        turn = HubTurn()
        if !hasStarted {
            hasStarted = true
            endForgottenPresences(at: time)
        }
        for forward in forwards.due(at: time.monotonic) { expire(forward, at: time) }
        for principal in sessions.silent(at: time.monotonic) { endSession(principal, at: time) }
        expireTokens(at: time)
        expireAccounts(at: time)
        storeUses()
        expireEvents(at: time)
        // Frequent small deletions delay others less than rare large ones.
        if lastExpiry.map({ time.monotonic - $0 >= .seconds(10) }) ?? true {
            lastExpiry = time.monotonic
            state.answers.expire(at: time.wall)
            forgetAnswers()
        }
        return turn
    }

    /// Call this when the hub had lost its broker.
    mutating func handleOutage(at time: HubTime) {
        sessions.shorten(to: time.monotonic + limits.sessionSilenceAfterOutage)
    }

    // MARK: Sending

    mutating func send(_ envelope: Envelope, to address: LinkAddress) {
        guard let bytes = try? envelope.serialized() else { return }
        turn.outputs.append(.message(address, bytes))
    }

    mutating func push<Parameters>(
        _ method: LinkPushMethod<Parameters>, _ parameters: Parameters, to address: LinkAddress, at time: HubTime
    ) {
        send(.push(method.push(parameters, t: time.wall)), to: address)
    }

    /// Sends a push to every user who is online and may view the device.
    mutating func pushToUsers<Parameters>(
        of device: DeviceID, _ method: LinkPushMethod<Parameters>, _ parameters: Parameters, at time: HubTime
    ) {
        let addresses = userAddresses(of: device)
        guard !addresses.isEmpty else { return }
        pushToUsers(at: addresses, method.push(parameters, t: time.wall))
    }

    /// Serializes the push once for all of them.
    /// - Returns: False if it is too large for an envelope.
    @discardableResult
    mutating func pushToUsers(at addresses: [LinkAddress], _ push: LinkPush) -> Bool {
        guard let bytes = try? Envelope.push(push).serialized() else { return false }
        for address in addresses { turn.outputs.append(.message(address, bytes)) }
        return true
    }

    func userAddresses(of device: DeviceID) -> [LinkAddress] {
        state.bindings.users(of: device).compactMap { user, binding in
            binding.actions.contains(.view) ? sessions[.user(user)]?.address : nil
        }
    }

    /// Answers a refused request, if its id can be read.
    private mutating func refuse(_ message: UplinkMessage, _ error: IoTError, count: (inout HubStatistics) -> Void) {
        count(&statistics)
        guard message.payload.count <= Envelope.maximumSize, standing(message.address) != .superseded,
            let id = RequestHead.id(in: message.payload)
        else { return }
        send(.reply(LinkReply(id: id, error: error)), to: message.address)
    }

    private mutating func takeRate(_ message: UplinkMessage, at time: HubTime) -> Bool {
        let perSecond = limits.requestsPerSecond
        return rates[message.address.principal, default: RequestRate(perSecond: perSecond, at: time.monotonic)]
            .take(RequestRate.cost(ofBytes: message.payload.count), perSecond: perSecond, at: time.monotonic)
    }
}
