/// Where pictures and sound are sent from.
extension Configuration {
    /// Whether the configuration says that other machines take part: they reach the hub or the API, or this box has
    /// joined another's hub.
    private func hasOthers(isJoined: Bool) -> Bool {
        let listeners = [hub.tls.listen, api.listen].compactMap { $0 }
        return isJoined || link.endpoint?.isLocal == false || listeners.contains { !$0.isLoopback }
    }

    /// `media.listen`, or the address that others can reach where there are others.
    func mediaAddress(isJoined: Bool) -> ListenAddress {
        if let listen = media.listen { return listen }
        return ListenAddress(host: hasOthers(isJoined: isJoined) ? "0.0.0.0" : "127.0.0.1", port: 0)
    }

    /// `discovery.announce`, or whether other machines can reach the cameras here at all.
    func announces(isJoined: Bool) -> Bool {
        discovery.announce ?? !mediaAddress(isJoined: isJoined).isLoopback
    }

    /// Why nobody on another machine will see a picture; `nil` when they can.
    func mediaObstacle(isJoined: Bool) -> String? {
        guard hasOthers(isJoined: isJoined), mediaAddress(isJoined: isJoined).isLoopback else { return nil }
        let hasRelay = media.iceServers.contains { $0.lowercased().hasPrefix("turn") }
        guard !hasRelay else { return nil }
        return "nobody on another machine will see pictures from a loopback address: leave media.listen out, or set it "
            + "to 0.0.0.0:0"
    }
}
