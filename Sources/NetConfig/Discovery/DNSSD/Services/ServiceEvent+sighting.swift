extension ServiceEvent {
    /// What a search hears of it.
    var sighting: DeviceSighting {
        switch self {
        case .found(let instance): .found(instance.device)
        case .lost(let key): .gone(identity: key.identity, foundBy: .dnsSD)
        }
    }
}
