import IoTCore
import NIOCore

/// The part of a device's provisioning mode that all protocols share: the device joins the network that it has received,
/// then contacts the hub, then the mode ends. Owns no clock.
struct DeviceJoining: Sendable {
    /// Work for the shell, in this order.
    enum Step: Sendable {
        /// The shell must answer with `applied`.
        case apply(WiFiCredentials)
        /// The shell must answer with `bound`.
        case bind(BindOrder)
        case timeout(NIODeadline)
        case end(End)
    }

    /// Why the mode ended.
    enum End: Sendable, Hashable {
        case bound
        /// The device is in its network, and no client set a hub.
        case connected
        case timedOut
    }

    enum Station: Sendable {
        case idle
        case joining
        case connected(WiFiConnection)
        case failed(WiFiOutcome)
    }

    /// The mode lasts this long after the client has requested the outcome, so that the answer arrives.
    private static let answerTime = TimeAmount.seconds(3)
    /// The mode lasts this long for a client that never requests the outcome.
    private static let outcomeTime = TimeAmount.seconds(60)

    private(set) var station = Station.idle
    private(set) var order: BindOrder?
    private(set) var bindState = BindState.unbound
    private(set) var isEnded = false
    /// Whether the device is connected to its network by cable, so that it can contact the hub without a Wi-Fi network.
    private let isWired: Bool
    /// Whether a network was received that `apply(_:)` has not begun to join. The device joins it before it contacts the hub.
    private var hasNewNetwork = false
    private var isBinding = false
    private var due: NIODeadline
    private var steps: [Step] = []

    init(lifetime: TimeAmount, isWired: Bool = false, at now: NIODeadline) {
        self.isWired = isWired
        due = now + lifetime
        steps.append(.timeout(due))
    }

    mutating func takeSteps() -> [Step] {
        defer { steps = [] }
        return steps
    }

    /// Notes that a network was received; `apply(_:)` follows.
    mutating func expectNetwork() {
        hasNewNetwork = true
    }

    /// Joins the network. While a network is being joined, a call changes nothing: the client repeats it if the answer was
    /// lost.
    mutating func apply(_ credentials: WiFiCredentials) {
        if case .joining = station { return }
        station = .joining
        hasNewNetwork = false
        steps.append(.apply(credentials))
    }

    mutating func take(_ order: BindOrder) {
        // A repetition after a lost answer changes nothing; neither does another order while the hub is contacted.
        if case .bound = bindState { return }
        if isBinding { return }
        self.order = order
        bindState = .waiting
        guard !hasNewNetwork else { return }
        switch station {
        case .connected: bind()
        case .idle where isWired, .failed where isWired: bind()
        case .idle, .joining, .failed: break
        }
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

    /// Requests the binding at the hub, once at a time.
    private mutating func bind() {
        guard let order, !isBinding else { return }
        isBinding = true
        steps.append(.bind(order))
    }

    mutating func bound(_ result: Result<String?, IoTError>, at now: NIODeadline) {
        guard !isEnded else { return }
        isBinding = false
        switch result {
        case .success:
            bindState = .bound
            settle(after: Self.outcomeTime, at: now)
        case .failure(let error):
            bindState = .failed(error.code, message: error.message)
            // The client may send another order.
            order = nil
        }
    }

    /// The client has read the final state.
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

    /// Ends the mode after this time, unless it ends sooner.
    private mutating func settle(after time: TimeAmount, at now: NIODeadline) {
        let end = now + time
        guard end < due else { return }
        due = end
        steps.append(.timeout(due))
    }
}
