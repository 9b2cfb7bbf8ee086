import IoTCore
import IoTLink
import NIOCore
import ThingModel

/// A request that the hub sent on and whose answer it waits for.
struct Forward: Sendable {
    enum Purpose: Sendable {
        /// An action of a user on a device.
        case action(DeviceID, path: String, value: JSONValue)
        /// Data of a user for a device.
        case message(MessageResponses)
        /// Whatever the hub only passes on.
        case call
        /// The beginning of a call.
        case connect(OpenCall.Key)
        /// The hub's own telling of one side that a call is over.
        case ending(OpenCall.Key, OpenCall.Sides)
        /// The hub's own telling of a written property, and which time this is.
        case delivery(DeviceID, path: String, version: Int64, attempt: Int)
    }

    /// The id on the way to `target`.
    var id: String
    var target: LinkAddress
    /// Who asked; nobody for what the hub tells by itself.
    var requester: HubTurn.Requester?
    var deadline: NIODeadline
    var purpose: Purpose
    /// When `envelope` may be sent once more for a repeat of the request: not at once, as a target may take its time.
    fileprivate var repeatable: NIODeadline?
    /// What was sent, for a target that lost its connection, or to which the broker dropped it; `nil` for what is told anew anyway, or was too much.
    var envelope: [UInt8]?
    /// What the asker was sent of several answers, for a repeated request; empty when it was too much.
    fileprivate(set) var parts: [[UInt8]] = []
    fileprivate var partBytes = 0
    /// In whose name it was asked.
    fileprivate let sender: Principal?
    /// Which of the table's forwards it is.
    fileprivate var number = 0

    init(
        id: String, target: LinkAddress, requester: HubTurn.Requester?, deadline: NIODeadline, purpose: Purpose,
        envelope: [UInt8]? = nil, sentAt: NIODeadline? = nil
    ) {
        self.id = id
        self.target = target
        self.requester = requester
        sender = requester?.actor
        self.deadline = deadline
        self.purpose = purpose
        repeatable = sentAt.map { $0 + ForwardTable.repeatInterval }
        self.envelope = envelope.flatMap { $0.count <= Self.envelopeCapacity ? $0 : nil }
    }

    /// Bytes of a request that are kept until its answer.
    private static let envelopeCapacity = 16 << 10
}

/// The forwards under way.
struct ForwardTable: Sendable {
    private var forwards: [String: Forward] = [:]
    private var byRequest: [AnswerIndex.Key: String] = [:]
    /// How many there are of each who asks, to each who is asked. What the hub tells by itself is not counted.
    private var pairs: [Pair: Int] = [:]
    private var senders: [Principal: Int] = [:]
    private var targets: [Principal: Int] = [:]
    /// One delivery a property at a time; what is written meanwhile follows it.
    private var deliveries: Set<DeliveryKey> = []
    /// Bytes that are kept of several answers.
    private var partBytes = 0
    private var added = 0
    /// What the batch at hand has changed, as it was before.
    private var before: [String: Forward?] = [:]
    /// When a forward may be due: none ends before it. The one whose deadline it was may have been answered since.
    private(set) var nextDeadline: NIODeadline?

    /// Of one request, and of all, so many bytes of its several answers are kept.
    static let partCapacity = 256 << 10
    static let totalPartCapacity = 16 << 20

    private struct Pair: Hashable {
        var sender: Principal
        var target: Principal
    }

    private struct DeliveryKey: Hashable {
        var device: DeviceID
        var path: String
    }

    var isEmpty: Bool { forwards.isEmpty }
    var count: Int { forwards.count }

    subscript(id: String) -> Forward? { forwards[id] }

    func count(of sender: Principal) -> Int { senders[sender] ?? 0 }
    func count(to target: Principal) -> Int { targets[target] ?? 0 }
    func count(of sender: Principal, to target: Principal) -> Int {
        pairs[Pair(sender: sender, target: target)] ?? 0
    }

    private mutating func count(_ forward: Forward, _ change: Int) {
        guard let sender = forward.sender else { return }
        let target = forward.target.principal
        func changed(_ count: Int?) -> Int? {
            let sum = (count ?? 0) + change
            return sum > 0 ? sum : nil
        }
        senders[sender] = changed(senders[sender])
        targets[target] = changed(targets[target])
        let pair = Pair(sender: sender, target: target)
        pairs[pair] = changed(pairs[pair])
    }

    /// What `target` was asked and has not answered, in the order in which it was asked.
    func envelopes(to target: LinkAddress) -> [[UInt8]] {
        forwards.values.filter { $0.target == target }.sorted { $0.number < $1.number }.compactMap(\.envelope)
    }

    func isDelivering(_ device: DeviceID, _ path: String) -> Bool {
        deliveries.contains(DeliveryKey(device: device, path: path))
    }

    mutating func keep() {
        if !before.isEmpty { before.removeAll(keepingCapacity: true) }
    }

    /// Undoes what was changed since `keep()`.
    mutating func takeBack() {
        for id in before.keys { takeOut(id) }
        for case let forward? in before.values { put(forward) }
        keep()
    }

    private mutating func note(_ id: String) {
        if before[id] == nil { before.updateValue(forwards[id], forKey: id) }
    }

    mutating func add(_ forward: Forward) {
        note(forward.id)
        takeOut(forward.id)
        added += 1
        var forward = forward
        forward.number = added
        put(forward)
    }

    private mutating func put(_ forward: Forward) {
        count(forward, 1)
        nextDeadline = min(nextDeadline ?? .distantFuture, forward.deadline)
        forwards[forward.id] = forward
        if !forward.parts.isEmpty { partBytes += forward.partBytes }
        if let requester = forward.requester { byRequest[requester.key] = forward.id }
        if case .delivery(let device, let path, _, _) = forward.purpose {
            deliveries.insert(DeliveryKey(device: device, path: path))
        }
    }

    /// A repeated request whose answer is still awaited: it will go to where the repeat came from.
    /// - Returns: What it was answered already, and what to send to its target again; `nil` if there is no such request.
    /// - Throws: 25028 for an id whose request asked something else.
    mutating func redirect(
        _ requester: HubTurn.Requester, at now: NIODeadline
    ) throws(IoTError) -> (parts: [[UInt8]], again: (target: LinkAddress, envelope: [UInt8])?)? {
        guard let id = byRequest[requester.key], var forward = forwards[id] else { return nil }
        try requester.content.check(isRepeatOf: forward.requester?.content)
        note(id)
        forward.requester = requester
        var again: (target: LinkAddress, envelope: [UInt8])?
        if let envelope = forward.envelope, forward.parts.isEmpty, forward.repeatable.map({ $0 <= now }) == true {
            again = (forward.target, envelope)
            forward.repeatable = now + Self.repeatInterval
        }
        forwards[id] = forward
        return (forward.parts, again)
    }

    /// Shorter than the shortest time after which a client repeats a request (`LinkLimits.repeatInterval`).
    fileprivate static let repeatInterval = TimeAmount.seconds(2)

    /// Keeps one of several answers, while there is room.
    mutating func addPart(_ id: String, _ bytes: [UInt8]) {
        guard var forward = forwards[id] else { return }
        note(id)
        partBytes -= forward.parts.isEmpty ? 0 : forward.partBytes
        forward.partBytes += bytes.count
        if forward.partBytes <= Self.partCapacity, partBytes + forward.partBytes <= Self.totalPartCapacity {
            forward.parts.append(bytes)
            partBytes += forward.partBytes
        } else {
            // With a hole it would be of no use, now and later.
            forward.partBytes = Self.partCapacity
            forward.parts = []
        }
        forwards[id] = forward
    }

    mutating func remove(_ id: String) -> Forward? {
        note(id)
        return takeOut(id)
    }

    /// Its asker was told that it is over.
    mutating func drop(_ request: AnswerIndex.Key) {
        if let id = byRequest[request] { takeOut(id) }
    }

    @discardableResult
    private mutating func takeOut(_ id: String) -> Forward? {
        guard let forward = forwards.removeValue(forKey: id) else { return nil }
        count(forward, -1)
        if !forward.parts.isEmpty { partBytes -= forward.partBytes }
        if let requester = forward.requester { byRequest[requester.key] = nil }
        if case .delivery(let device, let path, _, _) = forward.purpose {
            deliveries.remove(DeliveryKey(device: device, path: path))
        }
        return forward
    }

    /// Those whose time is over; the caller removes them.
    mutating func due(at time: NIODeadline) -> [Forward] {
        guard let nextDeadline, nextDeadline <= time else { return [] }
        self.nextDeadline = forwards.values.lazy.map(\.deadline).filter { $0 > time }.min()
        return forwards.values.filter { $0.deadline <= time }
    }

    func waiting(for target: Principal) -> [Forward] {
        forwards.values.filter { $0.target.principal == target }
    }

    /// The device has everything from its login: what was on its way to it before may have been lost.
    mutating func dropDeliveries(to device: DeviceID) {
        for forward in forwards.values {
            if case .delivery(device, _, _, _) = forward.purpose { _ = remove(forward.id) }
        }
    }
}
