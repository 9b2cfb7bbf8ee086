import IoTCore
import IoTLink

/// A call between a user's session and a device, from `call.connect` to `call.end`.
struct OpenCall: Sendable, Hashable {
    struct Key: Sendable, Hashable {
        var device: DeviceID
        /// The call's own session, which the caller chose.
        var session: String
    }

    /// The sides that must still be notified of the end.
    struct Sides: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let user = Sides(rawValue: 1)
        static let device = Sides(rawValue: 2)
    }

    var key: Key
    var user: AccessID
    /// The link session that called: the user's own, or an administrator's in the user's name.
    var asker: LinkAddress
    /// The call ends if the user loses one of these.
    var needs: BindingActions
    /// ms since 1970.
    var opened: Int64
    /// Empty while the call is open.
    var ending: Sides = []
}

/// The calls that the hub has connected. A call outlives the links of both sides, so it stays here until one of them
/// ends it, also over a restart of the hub. Excess calls are refused before they begin (`HubLimits`), because a call
/// that was forgotten here would outlive the right to it.
struct OpenCalls: Sendable {
    private var byDevice: [DeviceID: [String: OpenCall]] = [:]
    private var devicesOfUser: [AccessID: [DeviceID: Int]] = [:]
    private var countsOfUser: [AccessID: Int] = [:]
    private var endings: [Principal: Set<OpenCall.Key>] = [:]
    private(set) var count = 0

    subscript(key: OpenCall.Key) -> OpenCall? { byDevice[key.device]?[key.session] }

    func of(_ user: AccessID, _ device: DeviceID) -> [OpenCall] {
        guard devicesOfUser[user]?[device] != nil else { return [] }
        return (byDevice[device] ?? [:]).values.filter { $0.user == user }
    }

    func of(_ device: DeviceID) -> [OpenCall] { Array((byDevice[device] ?? [:]).values) }

    /// The ended calls that this principal must still be notified of.
    func endings(for principal: Principal) -> [OpenCall] {
        (endings[principal] ?? []).compactMap { self[$0] }
    }

    func count(of user: AccessID) -> Int { countsOfUser[user] ?? 0 }
    func count(of device: DeviceID) -> Int { byDevice[device]?.count ?? 0 }

    /// Adds a call, or replaces it.
    mutating func set(_ call: OpenCall) {
        _ = remove(call.key)
        byDevice[call.key.device, default: [:]][call.key.session] = call
        devicesOfUser[call.user, default: [:]][call.key.device, default: 0] += 1
        countsOfUser[call.user, default: 0] += 1
        if call.ending.contains(.user) { endings[call.asker.principal, default: []].insert(call.key) }
        if call.ending.contains(.device) { endings[.device(call.key.device), default: []].insert(call.key) }
        count += 1
    }

    mutating func remove(_ key: OpenCall.Key) -> OpenCall? {
        guard let call = byDevice[key.device]?.removeValue(forKey: key.session) else { return nil }
        if byDevice[key.device]?.isEmpty == true { byDevice[key.device] = nil }
        let left = (devicesOfUser[call.user]?[key.device] ?? 1) - 1
        devicesOfUser[call.user]?[key.device] = left > 0 ? left : nil
        if devicesOfUser[call.user]?.isEmpty == true { devicesOfUser[call.user] = nil }
        let others = (countsOfUser[call.user] ?? 1) - 1
        countsOfUser[call.user] = others > 0 ? others : nil
        for principal in [call.asker.principal, .device(key.device)] {
            endings[principal]?.remove(key)
            if endings[principal]?.isEmpty == true { endings[principal] = nil }
        }
        count -= 1
        return call
    }
}
