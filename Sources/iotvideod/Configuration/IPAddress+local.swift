import Glibc
import IoTCore

extension IPAddress {
    /// Whether a socket of this machine can use the address; true if that cannot be determined.
    static func isLocal(_ text: String) -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, "0", &hints, &found) == 0, let address = found else { return true }
        defer { freeaddrinfo(address) }
        let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
        guard descriptor >= 0 else { return errno != EAFNOSUPPORT }
        defer { close(descriptor) }
        return bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 || errno != EADDRNOTAVAIL
    }
}
