/// Where the API listens.
enum APIListener: Sendable, Equatable {
    /// Anyone who may open the socket acts as the owner of this daemon.
    case unixSocket(path: String)
    /// Every request needs a bearer token, even from this machine. `tls` `nil` means plain HTTP.
    case tcp(host: String, port: Int, tls: APITLS?)

    var isUnixSocket: Bool {
        if case .unixSocket = self { true } else { false }
    }

    var isEncrypted: Bool {
        if case .tcp(_, _, .some) = self { true } else { false }
    }
}

/// A certificate chain and its key, in PEM files that are reloaded when they change.
struct APITLS: Sendable, Equatable {
    var certificateFile: String
    var keyFile: String
}
