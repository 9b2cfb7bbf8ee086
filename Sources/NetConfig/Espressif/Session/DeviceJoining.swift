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
    static let outcomeTime = TimeAmount.seconds(60)

    private(set) var station = Station.idle
    private(set) var order: BindOrder?
    private(set) var bindState = BindState.unbound
    private(set) var isEnded = false
    /// Whether the device is connected to its network by cable, so that it can contact the hub without a Wi-Fi network.
    private let isWired: Bool
    /// After this time no attempt begins. The mode ends then, or after a running attempt.
    private let lifetimeEnd: NIODeadline
    /// The network of the last attempt.
    private var network: WiFiCredentials?
    /// Whether the last attempt has used `order`.
    private var isOrderUsed = false
    /// A request whose attempt has not begun.
    private var next: Request?
    private var isBinding = false
    /// The mode lasts this long after the binding, unless the client has read it.
    private let boundTime: TimeAmount
    private var due: NIODeadline
    private var steps: [Step] = []

    /// A network, with an order for it.
    private struct Request: Sendable {
        /// `nil` until the client asks to join it.
        var network: WiFiCredentials?
        var order: BindOrder?
    }

    init(
        lifetime: TimeAmount, isWired: Bool = false, boundTime: TimeAmount = outcomeTime, at now: NIODeadline
    ) {
        self.isWired = isWired
        self.boundTime = boundTime
        lifetimeEnd = now + lifetime
        due = lifetimeEnd
        steps.append(.timeout(due))
    }

    mutating func takeSteps() -> [Step] {
        defer { steps = [] }
        return steps
    }

    /// Whether the mode only waits for a client to read the result of the last attempt.
    func isLate(at now: NIODeadline) -> Bool { now >= lifetimeEnd && !isWorking }

    /// An attempt is not interrupted: a token that the hub has exchanged would be lost.
    private var isWorking: Bool {
        if case .joining = station { return true }
        return isBinding
    }

    /// A new client repeats what another one has sent without an attempt, or does not want it.
    mutating func beginSession() {
        if let next, next.network == nil { self.next = nil }
        guard !isOrderUsed, !isWorking else { return }
        order = nil
        bindState = .unbound
    }

    /// Notes that a network was received; `apply(_:at:)` follows. An order that is received in between belongs to it.
    mutating func expectNetwork() {
        next = Request()
    }

    /// Joins the network. During an attempt with the same network, a call changes nothing: the client repeats it if the
    /// answer was lost. Another network is joined after the running attempt, unless that binds the device.
    mutating func apply(_ credentials: WiFiCredentials, at now: NIODeadline) {
        var request = next ?? Request()
        next = nil
        guard bindState != .bound, now < lifetimeEnd else { return }
        guard isWorking else { return begin(credentials, request.order, at: now) }
        if credentials == network {
            // The order of a repetition may be the first one that arrives.
            if !isBinding, let order = request.order { self.order = order }
            return
        }
        request.network = credentials
        next = request
    }

    /// A network with its order in one message.
    mutating func apply(_ credentials: WiFiCredentials, _ order: BindOrder?, at now: NIODeadline) {
        next = Request(order: order)
        apply(credentials, at: now)
    }

    /// Begins an attempt. An order of an earlier attempt is for that attempt's network, and may be another client's.
    private mutating func begin(_ credentials: WiFiCredentials, _ newOrder: BindOrder?, at now: NIODeadline) {
        if let newOrder {
            order = newOrder
        } else if isOrderUsed {
            order = nil
        }
        bindState = order == nil ? .unbound : .waiting
        isOrderUsed = true
        network = credentials
        station = .joining
        renew(at: now)
        steps.append(.apply(credentials))
    }

    mutating func take(_ order: BindOrder, at now: NIODeadline) {
        // A repetition after a lost answer changes nothing; neither does another order while the hub is contacted.
        guard bindState != .bound, now < lifetimeEnd || isWorking else { return }
        if next != nil {
            next?.order = order
            if !isBinding { bindState = .waiting }
            return
        }
        if isBinding { return }
        self.order = order
        isOrderUsed = false
        bindState = .waiting
        switch station {
        case .connected: bind(at: now)
        case .idle where isWired, .failed where isWired: bind(at: now)
        case .joining: isOrderUsed = true
        case .idle, .failed: break
        }
    }

    mutating func applied(_ outcome: WiFiOutcome, at now: NIODeadline) {
        guard case .joining = station, !isEnded else { return }
        guard case .connected(let connection) = outcome else {
            station = .failed(outcome)
            return ended(at: now)
        }
        station = .connected(connection)
        guard order != nil else { return ended(at: now) }
        bind(at: now)
    }

    /// Requests the binding at the hub, once at a time.
    private mutating func bind(at now: NIODeadline) {
        guard let order, !isBinding else { return }
        isBinding = true
        isOrderUsed = true
        renew(at: now)
        steps.append(.bind(order))
    }

    mutating func bound(_ result: Result<String?, IoTError>, at now: NIODeadline) {
        guard !isEnded else { return }
        isBinding = false
        switch result {
        case .success:
            bindState = .bound
            next = nil
        case .failure(let error):
            bindState = .failed(error.code, message: error.message)
            // The client may send another order.
            order = nil
        }
        ended(at: now)
    }

    /// After an attempt, the one that waits begins. Otherwise the mode lasts long enough for the client to read the result.
    private mutating func ended(at now: NIODeadline) {
        if let next, let network = next.network, now < lifetimeEnd {
            self.next = nil
            return begin(network, next.order, at: now)
        }
        let finalTime: TimeAmount? =
            switch (bindState, station) {
            case (.bound, _): boundTime
            case (.unbound, .connected): Self.outcomeTime
            default: nil
            }
        if now >= due {
            // The time passed during the attempt.
            end(after: finalTime ?? Self.answerTime, at: now)
        } else if let finalTime {
            settle(after: finalTime, at: now)
        }
    }

    /// The client has read the final state.
    mutating func outcomeRead(at now: NIODeadline) {
        settle(after: Self.answerTime, at: now)
    }

    mutating func timeout(at now: NIODeadline) {
        guard !isEnded else { return }
        guard now >= due else { return steps.append(.timeout(due)) }
        // After the running attempt the time is set again.
        guard !isWorking else { return }
        isEnded = true
        if case .bound = bindState { return steps.append(.end(.bound)) }
        if case .connected = station, bindState == .unbound { return steps.append(.end(.connected)) }
        steps.append(.end(.timedOut))
    }

    /// Ends the mode after this time, unless it ends sooner.
    private mutating func settle(after time: TimeAmount, at now: NIODeadline) {
        if now + time < due { end(after: time, at: now) }
    }

    /// Restores the lifetime that `settle` has shortened.
    private mutating func renew(at now: NIODeadline) {
        if due < lifetimeEnd { end(after: lifetimeEnd - now, at: now) }
    }

    private mutating func end(after time: TimeAmount, at now: NIODeadline) {
        due = now + time
        steps.append(.timeout(due))
    }
}
