import IoTCore
import RecordingStore

/// Keys that conflict with each other.
extension Configuration {
    struct Conflict: Sendable, Equatable {
        var key: String
        var reason: String
    }

    /// The conflicts that the keys alone show. `JoinedBox.conflicts` finds those that depend on the data directory.
    func conflicts() -> [Conflict] {
        linkConflicts() + hubConflicts() + apiConflicts() + rtspConflicts() + lanConflicts() + mediaConflicts()
            + provisioningConflicts() + recordingConflicts() + firmwareConflicts()
    }

    private func firmwareConflicts() -> [Conflict] {
        let keys = firmware
        var conflicts: [Conflict] = []
        if (keys.directory == nil) != keys.keyFiles.isEmpty {
            conflicts.append(
                Conflict(
                    key: keys.directory == nil ? "firmware.keyFiles" : "firmware.directory",
                    reason: "firmware.directory and firmware.keyFiles require each other"))
        }
        if (keys.url == nil) != (keys.tokenFile == nil) {
            conflicts.append(
                Conflict(
                    key: keys.url == nil ? "firmware.tokenFile" : "firmware.url",
                    reason: "firmware.url and firmware.tokenFile require each other"))
        }
        if keys.url == nil, keys.certificateAuthorityFile != nil {
            conflicts.append(Conflict(key: "firmware.certificateAuthorityFile", reason: "needs firmware.url"))
        }
        if keys.directory == nil, keys.url != nil {
            conflicts.append(Conflict(key: "firmware.url", reason: "needs firmware.directory"))
        }
        return conflicts
    }

    private func recordingConflicts() -> [Conflict] {
        guard recording.directory == nil else { return [] }
        let dependents = [
            ("recording.cameraDirectories", !recording.cameraDirectories.isEmpty),
            ("recording.keyFiles", !recording.keyFiles.isEmpty),
            ("recording.sync", recording.sync != .normal),
            ("recording.freeSpace", recording.freeSpace != Recording().freeSpace),
            ("recording.maximumDays", recording.maximumDays != nil),
            ("recording.cameraBytes", recording.cameraBytes != nil),
            ("cameras[].record", cameras.contains { $0.record != .none }),
        ]
        return dependents.filter(\.1).map { Conflict(key: $0.0, reason: "needs recording.directory") }
    }

    private func mediaConflicts() -> [Conflict] {
        let hasTURN = media.iceServers.contains { $0.lowercased().hasPrefix("turn") }
        switch (hasTURN, media.turnSecretFile) {
        case (true, nil):
            return [Conflict(key: "media.iceServers", reason: "needs media.turnSecretFile for TURN")]
        case (false, .some):
            return [Conflict(key: "media.turnSecretFile", reason: "needs a TURN server in media.iceServers")]
        default: return []
        }
    }

    private func linkConflicts() -> [Conflict] {
        var conflicts: [Conflict] = []
        if link.accessId != nil, link.tokenFile == nil {
            conflicts.append(Conflict(key: "link.accessId", reason: "needs link.tokenFile"))
        }
        if link.tokenFile != nil, link.accessId == nil {
            conflicts.append(Conflict(key: "link.tokenFile", reason: "needs link.accessId"))
        }
        if link.endpoint != nil, link.accessId == nil {
            conflicts.append(
                Conflict(key: "link.endpoint", reason: "needs link.accessId and link.tokenFile"))
        }
        switch (link.endpoint, link.certificateAuthorityFile) {
        case (let endpoint?, nil) where !endpoint.isLocal:
            conflicts.append(
                Conflict(
                    key: "link.endpoint",
                    reason: "needs link.certificateAuthorityFile: the link to another machine must be encrypted"))
        case (nil, .some):
            conflicts.append(
                Conflict(key: "link.certificateAuthorityFile", reason: "needs link.endpoint"))
        case (.unixSocket, .some):
            conflicts.append(
                Conflict(key: "link.certificateAuthorityFile", reason: "is for HOST:PORT, not for a Unix socket"))
        default: break
        }
        return conflicts
    }

    private func hubConflicts() -> [Conflict] {
        var conflicts: [Conflict] = []
        let tls = hub.tls
        let dependents = [
            ("hub.tls.names", !tls.names.isEmpty), ("hub.tls.certificateFile", tls.certificateFile != nil),
            ("hub.tls.keyFile", tls.keyFile != nil),
        ]
        if tls.listen == nil {
            for (key, isSet) in dependents where isSet {
                conflicts.append(Conflict(key: key, reason: "needs hub.tls.listen"))
            }
        }
        conflicts += pair("hub.tls", tls.certificateFile, tls.keyFile)
        if let listen = tls.listen, case .loopback(let port) = hub.listen, listen.takes(port, of: "127.0.0.1") {
            conflicts.append(Conflict(key: "hub.tls.listen", reason: "is the port of hub.listen; use another port"))
        }
        if hub.enabled == false, tls.listen != nil {
            conflicts.append(Conflict(key: "hub.tls.listen", reason: "needs a hub in this daemon"))
        }
        return conflicts
    }

    private func apiConflicts() -> [Conflict] {
        var conflicts: [Conflict] = []
        if api.listen == nil {
            // The RTSP server uses the API's certificate.
            let hasCertificate = rtsp.listen != nil && rtsp.isEncrypted
            let dependents = [
                ("api.tls", api.tls != nil), ("api.certificateFile", api.certificateFile != nil && !hasCertificate),
                ("api.keyFile", api.keyFile != nil && !hasCertificate),
                ("api.allowedOrigins", !api.allowedOrigins.isEmpty),
                ("api.names", !api.names.isEmpty && !hasCertificate),
            ]
            for (key, isSet) in dependents where isSet {
                conflicts.append(Conflict(key: key, reason: "needs api.listen"))
            }
        } else if !api.isEncrypted, !rtsp.isEncrypted, api.certificateFile != nil {
            conflicts.append(Conflict(key: "api.certificateFile", reason: "needs api.tls: true"))
        }
        if let listen = api.listen, listen.port > 0 {
            if let other = hub.tls.listen, listen.takes(other.port, of: other.host) {
                conflicts.append(Conflict(key: "api.listen", reason: "is the port of hub.tls.listen; use another port"))
            }
            if case .loopback(let port) = hub.listen, listen.takes(port, of: "127.0.0.1") {
                conflicts.append(Conflict(key: "api.listen", reason: "is the port of hub.listen; use another port"))
            }
        }
        conflicts += pair("api", api.certificateFile, api.keyFile)
        return conflicts
    }

    private func rtspConflicts() -> [Conflict] {
        guard let listen = rtsp.listen else {
            return [("rtsp.tls", rtsp.tls != nil), ("rtsp.udpPort", rtsp.udpPort != 0)].filter(\.1)
                .map { Conflict(key: $0.0, reason: "needs rtsp.listen") }
        }
        var conflicts: [Conflict] = []
        let others: [(String, ListenAddress?)] = [
            ("api.listen", api.listen), ("hub.tls.listen", hub.tls.listen), ("hub.listen", hub.listen.address),
        ]
        for case (let key, let other?) in others where listen.port > 0 && listen.takes(other.port, of: other.host) {
            conflicts.append(Conflict(key: "rtsp.listen", reason: "is the port of \(key); use another port"))
        }
        if rtsp.udpPort != 0, rtsp.isEncrypted {
            conflicts.append(
                Conflict(key: "rtsp.udpPort", reason: "needs rtsp.tls: false, because UDP is not encrypted"))
        }
        return conflicts
    }

    private func lanConflicts() -> [Conflict] {
        guard let listen = lan.listen else { return [] }
        let others: [(String, ListenAddress?)] = [
            ("api.listen", api.listen), ("rtsp.listen", rtsp.listen), ("hub.tls.listen", hub.tls.listen),
            ("hub.listen", hub.listen.address),
        ]
        return others.compactMap { key, other in
            guard let other, listen.takes(other.port, of: other.host) else { return nil }
            return Conflict(key: "lan.listen", reason: "is the port of \(key); use another port")
        }
    }

    private func pair(_ section: String, _ certificate: String?, _ key: String?) -> [Conflict] {
        if certificate != nil, key == nil {
            return [Conflict(key: section + ".certificateFile", reason: "needs \(section).keyFile")]
        }
        if key != nil, certificate == nil {
            return [Conflict(key: section + ".keyFile", reason: "needs \(section).certificateFile")]
        }
        return []
    }
}
