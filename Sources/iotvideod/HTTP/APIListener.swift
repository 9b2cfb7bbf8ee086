/// Where the API listens.
enum APIListener: Sendable, Equatable {
    /// Who may open the socket acts as the owner of this daemon.
    case unixSocket(path: String)
    /// Everyone needs a bearer token, also on this machine. `tls` `nil` is plain HTTP.
    case tcp(host: String, port: Int, tls: APITLS?)

    var isUnixSocket: Bool {
        if case .unixSocket = self { true } else { false }
    }

    var isEncrypted: Bool {
        if case .tcp(_, _, .some) = self { true } else { false }
    }
}

/// A certificate chain and its key, in PEM files that are read again when they change.
struct APITLS: Sendable, Equatable {
    var certificateFile: String
    var keyFile: String
}
