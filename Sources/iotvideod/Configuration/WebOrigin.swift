import IoTCore

/// Checks origins in the form that browsers send (RFC 6454 §6.1).
enum WebOrigin {
    static func isValid(_ text: String) -> Bool {
        for scheme in ["https://", "http://"] where text.lowercased().hasPrefix(scheme) {
            let place = text.dropFirst(scheme.count)
            // Without a port, any valid port does for the check.
            guard let found = HostPort(place) ?? HostPort("\(place):443") else { return false }
            return found.port > 0 && HostName.isValid(found.host)
        }
        return false
    }
}
