import IoTCore

/// Groups sightings of the same device.
///
/// A UUID, a MAC address and a device id each belong to one device. A serial number is only unique for its
/// manufacturer, and several devices may have one address (the cameras of a recorder): these only join sightings that
/// do not contradict each other. Cameras of ours are identified by their ids; the addresses are those of their box,
/// which may have other services, too.
struct DiscoveryGroups {
    private var sightings: [DiscoveredDevice]
    /// The group of each sighting, given by the group's first member.
    private var parents: [Int]

    init(_ sightings: [DiscoveredDevice]) {
        self.sightings = sightings
        parents = Array(sightings.indices)
    }

    /// Joins sightings with the same UUID, MAC address or device id.
    mutating func joinSame() {
        for members in indices(by: Self.ownIdentities).values { join(members) }
    }

    /// Joins sightings with the same serial number, and then with the same address, if they can be one device.
    mutating func joinLikely() {
        joinAgreeing(indices { $0.identities.filter { $0.hasPrefix("serial:") } })
        joinAgreeing(indices { $0.isOurs ? [] : Set($0.addresses.map(\.description)) })
    }

    var devices: [DiscoveredDevice] {
        var merged: [Int: DiscoveredDevice] = [:]
        for index in sightings.indices {
            let first = root(index)
            if merged[first] == nil { merged[first] = sightings[index] } else { merged[first]?.merge(sightings[index]) }
        }
        return merged.sorted { $0.key < $1.key }.map(\.value)
    }

    private func indices(by keys: (DiscoveredDevice) -> Set<String>) -> [String: [Int]] {
        var result: [String: [Int]] = [:]
        for index in sightings.indices {
            for key in keys(sightings[index]) { result[key, default: []].append(index) }
        }
        return result
    }

    private mutating func joinAgreeing(_ candidates: [String: [Int]]) {
        for (_, members) in candidates.sorted(by: { $0.key < $1.key }) {
            let groups = Set(members.map(root))
            guard groups.count > 1 else { continue }
            // The values of each kind of identity among all members.
            var kinds: [Substring: Set<String>] = [:]
            for index in sightings.indices where groups.contains(root(index)) {
                for identity in sightings[index].identities { kinds[Self.kind(identity), default: []].insert(identity) }
            }
            if kinds.values.allSatisfy({ $0.count == 1 }) { join(members) }
        }
    }

    /// Omits the MAC address of a camera of ours, because it belongs to the box, like the address.
    private static func ownIdentities(_ device: DiscoveredDevice) -> Set<String> {
        device.identities.filter { identity in
            !identity.hasPrefix("serial:") && (device.deviceID == nil || !identity.hasPrefix("mac:"))
        }
    }

    /// `mac` of `mac:…`; `_rtsp._tcp` of `service:NAME._rtsp._tcp`, because a device may have several services.
    private static func kind(_ identity: String) -> Substring {
        guard identity.hasPrefix("service:") else { return identity.prefix { $0 != ":" } }
        let dots = identity.indices.filter { identity[$0] == "." }.suffix(2)
        return dots.first.map { identity[$0...].dropFirst() } ?? identity[...]
    }

    private func root(_ index: Int) -> Int {
        var index = index
        while parents[index] != index { index = parents[index] }
        return index
    }

    private mutating func join(_ members: [Int]) {
        guard let first = members.map(root).min() else { return }
        for member in members { parents[root(member)] = first }
        // Shortens the path for later calls.
        for index in members { parents[index] = first }
    }
}
