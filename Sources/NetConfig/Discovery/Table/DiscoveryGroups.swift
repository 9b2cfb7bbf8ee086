import IoTCore

/// Sightings that are put together as devices.
///
/// A UUID, a MAC address and a device id are one device's alone. A serial number is its maker's alone, and an address
/// may be several devices' (the cameras of one recorder): these join only what does not contradict each other. Cameras
/// of ours are known by their ids; the addresses are their box's, which may serve other things too.
struct DiscoveryGroups {
    private var sightings: [DiscoveredDevice]
    /// Each one's group, by the group's first member.
    private var parents: [Int]

    init(_ sightings: [DiscoveredDevice]) {
        self.sightings = sightings
        parents = Array(sightings.indices)
    }

    /// Joins what has a UUID, MAC address or device id in common.
    mutating func joinSame() {
        for members in indices(by: Self.ownIdentities).values { join(members) }
    }

    /// Joins what has a serial number, and then what has an address, in common, where all of it can be one device.
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
            // What each kind of identity is among all of their members.
            var kinds: [Substring: Set<String>] = [:]
            for index in sightings.indices where groups.contains(root(index)) {
                for identity in sightings[index].identities { kinds[Self.kind(identity), default: []].insert(identity) }
            }
            if kinds.values.allSatisfy({ $0.count == 1 }) { join(members) }
        }
    }

    /// Without a MAC address for a camera of ours: it is the box's, as the address is.
    private static func ownIdentities(_ device: DiscoveredDevice) -> Set<String> {
        device.identities.filter { identity in
            !identity.hasPrefix("serial:") && (device.deviceID == nil || !identity.hasPrefix("mac:"))
        }
    }

    /// `mac` of `mac:…`; `_rtsp._tcp` of `service:NAME._rtsp._tcp`, because a device has services of several types.
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
        // Short ways for whoever asks next.
        for index in members { parents[index] = first }
    }
}
