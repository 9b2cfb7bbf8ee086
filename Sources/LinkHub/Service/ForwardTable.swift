import IoTCore
import IoTLink
import NIOCore

/// A request that the hub sent on and whose answer it waits for.
struct Forward: Sendable {
    enum Purpose: Sendable {
        /// An action of a user on a device.
        case action(DeviceID, path: String, value: JSONValue)
        /// Whatever the hub only passes on.
        case call
        /// The hub's own telling of a written property, and which time this is.
        case delivery(DeviceID, path: String, version: Int64, attempt: Int)
    }

    /// The id on the way to `target`.
    var id: String
    var target: LinkAddress
    /// Who asked; nobody for a delivery.
    var requester: HubTurn.Requester?
    var deadline: NIODeadline
    var purpose: Purpose
}

/// The forwards under way.
struct ForwardTable: Sendable {
    private var forwards: [String: Forward] = [:]
    private var byRequest: [AnswerIndex.Key: String] = [:]
    /// One delivery a property at a time; what is written meanwhile follows it.
    private var deliveries: Set<DeliveryKey> = []

    private struct DeliveryKey: Hashable {
        var device: DeviceID
        var path: String
    }

    var isEmpty: Bool { forwards.isEmpty }
    var count: Int { forwards.count }

    subscript(id: String) -> Forward? { forwards[id] }

    func isDelivering(_ device: DeviceID, _ path: String) -> Bool {
        deliveries.contains(DeliveryKey(device: device, path: path))
    }

    mutating func add(_ forward: Forward) {
        forwards[forward.id] = forward
        if let requester = forward.requester { byRequest[Self.key(requester)] = forward.id }
        if case .delivery(let device, let path, _, _) = forward.purpose {
            deliveries.insert(DeliveryKey(device: device, path: path))
        }
    }

    /// A repeated request whose answer is still awaited: it will go to where the repeat came from.
    /// - Returns: False if there is none.
    mutating func redirect(_ requester: HubTurn.Requester) -> Bool {
        guard let id = byRequest[Self.key(requester)] else { return false }
        forwards[id]?.requester = requester
        return true
    }

    mutating func remove(_ id: String) -> Forward? {
        guard let forward = forwards.removeValue(forKey: id) else { return nil }
        if let requester = forward.requester { byRequest[Self.key(requester)] = nil }
        if case .delivery(let device, let path, _, _) = forward.purpose {
            deliveries.remove(DeliveryKey(device: device, path: path))
        }
        return forward
    }

    func due(at time: NIODeadline) -> [Forward] {
        forwards.values.filter { $0.deadline <= time }
    }

    func waiting(for target: Principal) -> [Forward] {
        forwards.values.filter { $0.target.principal == target }
    }

    private static func key(_ requester: HubTurn.Requester) -> AnswerIndex.Key {
        AnswerIndex.Key(principal: requester.address.principal, id: requester.id)
    }
}
