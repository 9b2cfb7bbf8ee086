import Glibc
package import IoTCore

/// The errors for a configured address that cannot be listened on: which address, which key, and what to do.
package enum ListenFailure {
    /// - Parameters:
    ///   - key: The configuration key, such as `api.listen`.
    ///   - host: an IP address.
    ///   - reason: The `errno` of bind(2) or listen(2).
    package static func error(
        _ key: String, _ transport: PortHolder.Transport, host: String, port: Int, reason: Int32,
        underlying: (any Error)? = nil
    ) -> IoTError {
        let place = "\(transport.rawValue.uppercased()) port \(port) of \(host)"
        switch reason {
        case EADDRINUSE:
            return inUse(
                key, place: place, holder: PortHolder.find(transport, host: host, port: port), underlying: underlying)
        case EACCES, EPERM:
            return IoTError(
                .invalidConfiguration, "\(key): this account may not open \(place)",
                remedy: "take a port from 1024 on, or let systemd give the service CAP_NET_BIND_SERVICE "
                    + "(AmbientCapabilities= and CapabilityBoundingSet=)", underlying: underlying)
        case EADDRNOTAVAIL:
            return IoTError(
                .invalidConfiguration, "\(key): this machine has no address \(host)",
                remedy: "name one that `ip address` shows, or 0.0.0.0 for all", underlying: underlying)
        default:
            return IoTError(
                .internalFailure, "\(key): \(place) cannot be opened: \(String(cString: strerror(reason)))",
                underlying: underlying)
        }
    }

    /// - Parameter holder: `nil` if it is not known.
    static func inUse(
        _ key: String, place: String, holder: PortHolder?, underlying: (any Error)? = nil
    ) -> IoTError {
        let stop =
            holder?.isMosquitto == true
            ? "stop it (Debian's mosquitto service: `systemctl disable --now mosquitto`)" : "stop that program"
        return IoTError(
            .addressInUse, "\(key): \(place) is in use by \(holder?.description ?? "another program")",
            remedy: "\(stop), or set \(key) to another port", underlying: underlying)
    }
}
