/// The address that media is sent from.
extension Configuration {
    /// Whether other machines can reach the hub, the API or the RTSP server, or this machine has joined another hub.
    private func hasOthers(isJoined: Bool) -> Bool {
        let listeners = [hub.tls.listen, api.listen, rtsp.listen].compactMap { $0 }
        return isJoined || link.endpoint?.isLocal == false || listeners.contains { !$0.isLoopback }
    }

    /// `media.listen`; otherwise all addresses if other machines take part (`hasOthers`), or the loopback address.
    func mediaAddress(isJoined: Bool) -> ListenAddress {
        if let listen = media.listen { return listen }
        return ListenAddress(host: hasOthers(isJoined: isJoined) ? "0.0.0.0" : "127.0.0.1", port: 0)
    }

    /// `discovery.announce`; without the key, whether other machines can reach the cameras here.
    func announces(isJoined: Bool) -> Bool {
        discovery.announce ?? !mediaAddress(isJoined: isJoined).isLoopback
    }

    /// Why viewers on other machines get no media; `nil` if they do.
    func mediaObstacle(isJoined: Bool) -> String? {
        guard hasOthers(isJoined: isJoined), mediaAddress(isJoined: isJoined).isLoopback else { return nil }
        let hasRelay = media.iceServers.contains { $0.lowercased().hasPrefix("turn") }
        guard !hasRelay else { return nil }
        return "viewers on other machines get no pictures from a loopback address: leave media.listen out, or set it "
            + "to 0.0.0.0:0"
    }
}
