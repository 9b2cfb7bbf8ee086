import IoTCore

/// What is known about each service, of which several interfaces and protocols may report.
struct InstanceTable<Source: Hashable> {
    private var reports: [ServiceKey: [Source: ServiceInstance]] = [:]
    private(set) var instances: [ServiceKey: ServiceInstance] = [:]

    /// What a network's services may take. Newer ones are not taken up when it is full.
    static var maximumCount: Int { 2_048 }

    /// - Returns: What changed by it; `nil` for nothing.
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

    /// Forgets everything that these sources reported.
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
        // Sorted, so that the same reports in another order are no change.
        let addresses = Set(sources.values.flatMap(\.addresses))
        merged.addresses = addresses.sorted {
            ($0.isIPv6 ? 1 : 0, $0.description) < ($1.isIPv6 ? 1 : 0, $1.description)
        }
        guard instances[key] != merged else { return nil }
        instances[key] = merged
        return .found(merged)
    }
}
