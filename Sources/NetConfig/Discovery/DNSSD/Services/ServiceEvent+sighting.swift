extension ServiceEvent {
    /// The event as a search reports it.
    var sighting: DeviceSighting {
        switch self {
        case .found(let instance): .found(instance.device)
        case .lost(let key): .gone(identity: key.identity, foundBy: .dnsSD)
        }
    }
}
