import IoTCore

/// The bindings of users to devices, indexed by both.
struct BindingTable: Sendable {
    private var byDevice: [DeviceID: [AccessID: Binding]] = [:]
    private var byUser: [AccessID: Set<DeviceID>] = [:]
    private var owners: [DeviceID: AccessID] = [:]

    subscript(device: DeviceID, user: AccessID) -> Binding? { byDevice[device]?[user] }

    func users(of device: DeviceID) -> [AccessID: Binding] { byDevice[device] ?? [:] }
    func devices(of user: AccessID) -> Set<DeviceID> { byUser[user] ?? [] }
    func owner(of device: DeviceID) -> AccessID? { owners[device] }

    mutating func set(_ user: AccessID, _ device: DeviceID, _ binding: Binding) {
        byDevice[device, default: [:]][user] = binding
        byUser[user, default: []].insert(device)
        if binding.role == .owner {
            owners[device] = user
        } else if owners[device] == user {
            owners[device] = nil
        }
    }

    mutating func remove(_ user: AccessID, _ device: DeviceID) {
        byDevice[device]?[user] = nil
        if byDevice[device]?.isEmpty == true { byDevice[device] = nil }
        byUser[user]?.remove(device)
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        if owners[device] == user { owners[device] = nil }
    }
}
