import IoTCore

/// The known services. Several interfaces and protocols may report the same one.
struct InstanceTable<Source: Hashable> {
    private var reports: [ServiceKey: [Source: ServiceInstance]] = [:]
    private(set) var instances: [ServiceKey: ServiceInstance] = [:]

    /// The maximum number of services. Further ones are ignored.
    static var maximumCount: Int { 2_048 }

    /// - Returns: The change, or `nil`.
    mutating func take(_ event: ServiceEvent, from source: Source) -> ServiceEvent? {
        switch event {
        case .found(let instance):
            guard reports[instance.key] != nil || reports.count < Self.maximumCount else { return nil }
            reports[instance.key, default: [:]][source] = instance
            return update(instance.key, newest: instance)
        case .lost(let key):
            guard reports[key]?.removeValue(forKey: source) != nil else { return nil }
            return update(key, newest: nil)
        }
    }

    /// Removes all reports of these sources.
    mutating func remove(where isGone: (Source) -> Bool) -> [ServiceEvent] {
        var events: [ServiceEvent] = []
        for (key, sources) in reports {
            for source in sources.keys where isGone(source) {
                if let event = take(.lost(key), from: source) { events.append(event) }
            }
        }
        return events
    }

    private mutating func update(_ key: ServiceKey, newest: ServiceInstance?) -> ServiceEvent? {
        guard let sources = reports[key], !sources.isEmpty, var merged = newest ?? sources.values.first else {
            reports[key] = nil
            return instances.removeValue(forKey: key).map { _ in .lost(key) }
        }
        // Sorted, so that another order of the same reports is not a change.
        let addresses = Set(sources.values.flatMap(\.addresses))
        merged.addresses = addresses.sorted {
            ($0.isIPv6 ? 1 : 0, $0.description) < ($1.isIPv6 ? 1 : 0, $1.description)
        }
        guard instances[key] != merged else { return nil }
        instances[key] = merged
        return .found(merged)
    }
}
