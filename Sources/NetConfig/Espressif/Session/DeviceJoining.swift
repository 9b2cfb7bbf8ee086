import IoTCore
import NIOCore

/// What a device in provisioning mode does with what it is given, whatever protocol brought it: it joins the network, then
/// asks the hub, then the mode ends. Owns no clock.
struct DeviceJoining: Sendable {
    /// What the shell does, in this order.
    enum Step: Sendable {
        /// To be answered with `applied`.
        case apply(WiFiCredentials)
        /// To be answered with `bound`.
        case bind(BindOrder)
        case timeout(NIODeadline)
        case end(End)
    }

    /// Why the mode ended.
    enum End: Sendable, Hashable {
        case bound
        /// In its network, and nobody had a hub for it.
        case connected
        case timedOut
    }

    enum Station: Sendable {
        case idle
        case joining
        case connected(WiFiConnection)
        case failed(WiFiOutcome)
    }

    /// The mode stays this long after the client has asked for the outcome, so that the answer arrives.
    private static let answerTime = TimeAmount.seconds(3)
    /// The mode stays this long for a client that never asks for the outcome.
    private static let outcomeTime = TimeAmount.seconds(60)

    private(set) var station = Station.idle
    private(set) var order: BindOrder?
    private(set) var bindState = BindState.unbound
    private(set) var isEnded = false
    private var isBinding = false
    private var due: NIODeadline
    private var steps: [Step] = []

    init(lifetime: TimeAmount, at now: NIODeadline) {
        due = now + lifetime
        steps.append(.timeout(due))
    }

    mutating func takeSteps() -> [Step] {
        defer { steps = [] }
        return steps
    }

    /// Joins the network, unless that is under way: its request came twice because an answer was lost.
    mutating func apply(_ credentials: WiFiCredentials) {
        if case .joining = station { return }
        station = .joining
        steps.append(.apply(credentials))
    }

    mutating func take(_ order: BindOrder) {
        // The same again, because the answer was lost, changes nothing; nor does another while a hub is asked.
        if case .bound = bindState { return }
        if case .waiting = bindState, case .connected = station { return }
        self.order = order
        bindState = .waiting
        if case .connected = station { bind() }
    }

    mutating func applied(_ outcome: WiFiOutcome, at now: NIODeadline) {
        guard case .joining = station, !isEnded else { return }
        guard case .connected(let connection) = outcome else {
            station = .failed(outcome)
            return
        }
        station = .connected(connection)
        if order == nil { return settle(after: Self.outcomeTime, at: now) }
        bind()
    }

    /// Has the hub asked, once at a time.
    private mutating func bind() {
        guard let order, !isBinding else { return }
        isBinding = true
        steps.append(.bind(order))
    }

    mutating func bound(_ result: Result<Void, IoTError>, at now: NIODeadline) {
        guard !isEnded else { return }
        isBinding = false
        switch result {
        case .success:
            bindState = .bound
            settle(after: Self.outcomeTime, at: now)
        case .failure(let error):
            bindState = .failed(error.code, message: error.message)
            // Another order may come.
            order = nil
        }
    }

    /// The client was answered that it ended well.
    mutating func outcomeRead(at now: NIODeadline) {
        settle(after: Self.answerTime, at: now)
    }

    mutating func timeout(at now: NIODeadline) {
        guard !isEnded else { return }
        guard now >= due else { return steps.append(.timeout(due)) }
        isEnded = true
        if case .bound = bindState { return steps.append(.end(.bound)) }
        if case .connected = station, bindState == .unbound { return steps.append(.end(.connected)) }
        steps.append(.end(.timedOut))
    }

    /// The mode ends then, if not sooner.
    private mutating func settle(after time: TimeAmount, at now: NIODeadline) {
        let end = now + time
        guard end < due else { return }
        due = end
        steps.append(.timeout(due))
    }
}
