import IoTCore
import IoTLink
import NIOCore
import ThingModel

/// A request that the hub forwarded and has no answer to yet.
struct Forward: Sendable {
    enum Purpose: Sendable {
        /// An action of a user on a device.
        case action(DeviceID, path: String, value: JSONValue)
        /// Data of a user for a device.
        case message(MessageResponses)
        /// A message that the hub only passes on.
        case call
        /// A user's check or change of a device's LAN access password.
        case lanPassword
        /// The start of a call.
        case connect(OpenCall.Key)
        /// The hub's own notice to one side that a call has ended.
        case ending(OpenCall.Key, OpenCall.Sides)
        /// The hub's own delivery of a written property, and the number of the attempt.
        case delivery(DeviceID, path: String, version: Int64, attempt: Int)
    }

    /// The id on the way to `target`.
    var id: String
    var target: LinkAddress
    /// Who asked; `nil` for the hub's own requests.
    var requester: HubTurn.Requester?
    var deadline: NIODeadline
    var purpose: Purpose
    /// When a repeat of the request may send `envelope` again: not at once, because the target may still be working on
    /// it.
    fileprivate var repeatable: NIODeadline?
    /// What was sent, for a target that lost its connection or whose message the broker dropped. `nil` if the hub sends
    /// it again anyway, or if it was too large.
    var envelope: [UInt8]?
    /// The answers that were already sent, for a repeat of the request. Empty if they were too large.
    fileprivate(set) var parts: [[UInt8]] = []
    fileprivate var partBytes = 0
    /// The principal in whose name it was asked.
    fileprivate let sender: Principal?
    /// The forward's number in the order of the table.
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

    /// The largest request, in bytes, that is kept until its answer.
    private static let envelopeCapacity = 16 << 10
}

/// The forwards in progress.
struct ForwardTable: Sendable {
    private var forwards: [String: Forward] = [:]
    private var byRequest: [AnswerIndex.Key: String] = [:]
    /// How many forwards each sender has to each target. The hub's own are not counted.
    private var pairs: [Pair: Int] = [:]
    private var senders: [Principal: Int] = [:]
    private var targets: [Principal: Int] = [:]
    /// One delivery a property at a time; later writes follow it.
    private var deliveries: Set<DeliveryKey> = []
    /// The bytes of all `parts`.
    private var partBytes = 0
    private var added = 0
    /// The forwards that the current batch has changed, as they were before.
    private var before: [String: Forward?] = [:]
    /// The earliest time at which a forward may be due. The forward with this deadline may have been answered already.
    private(set) var nextDeadline: NIODeadline?

    /// How many bytes of `parts` are kept, for one request and for all.
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

    func forward(of request: AnswerIndex.Key) -> Forward? { byRequest[request].flatMap { forwards[$0] } }

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

    /// The requests that `target` has not answered, in the order in which they were sent.
    func envelopes(to target: LinkAddress) -> [[UInt8]] {
        forwards.values.filter { $0.target == target }.sorted { $0.number < $1.number }.compactMap(\.envelope)
    }

    func isDelivering(_ device: DeviceID, _ path: String) -> Bool {
        deliveries.contains(DeliveryKey(device: device, path: path))
    }

    mutating func keep() {
        if !before.isEmpty { before.removeAll(keepingCapacity: true) }
    }

    /// Undoes the changes since `keep()`.
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

    /// Finds a repeated request that has no answer yet. The answer will go to where the repeat came from.
    /// - Returns: The answers sent so far, and what to send to the target again; `nil` if there is no such request.
    /// - Throws: 25028 if the id belongs to a different request.
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

    /// Shorter than the shortest interval at which a client repeats a request (`LinkLimits.repeatInterval`).
    fileprivate static let repeatInterval = TimeAmount.seconds(2)

    /// Keeps one of several answers, if there is room.
    mutating func addPart(_ id: String, _ bytes: [UInt8]) {
        guard var forward = forwards[id] else { return }
        note(id)
        partBytes -= forward.parts.isEmpty ? 0 : forward.partBytes
        forward.partBytes += bytes.count
        if forward.partBytes <= Self.partCapacity, partBytes + forward.partBytes <= Self.totalPartCapacity {
            forward.parts.append(bytes)
            partBytes += forward.partBytes
        } else {
            // Incomplete answers are of no use, now or later.
            forward.partBytes = Self.partCapacity
            forward.parts = []
        }
        forwards[id] = forward
    }

    mutating func remove(_ id: String) -> Forward? {
        note(id)
        return takeOut(id)
    }

    /// Drops the forward of a request that has failed.
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

    /// The forwards whose deadline has passed; the caller removes them.
    mutating func due(at time: NIODeadline) -> [Forward] {
        guard let nextDeadline, nextDeadline <= time else { return [] }
        self.nextDeadline = forwards.values.lazy.map(\.deadline).filter { $0 > time }.min()
        return forwards.values.filter { $0.deadline <= time }
    }

    func waiting(for target: Principal) -> [Forward] {
        forwards.values.filter { $0.target.principal == target }
    }

    /// Drops the deliveries to a device that has logged in: the login brought all values, and earlier deliveries may be
    /// lost.
    mutating func dropDeliveries(to device: DeviceID) {
        for forward in forwards.values {
            if case .delivery(device, _, _, _) = forward.purpose { _ = remove(forward.id) }
        }
    }
}
