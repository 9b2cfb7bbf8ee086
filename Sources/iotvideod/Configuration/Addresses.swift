import IoTCore

/// An IP address and a port to listen on: `127.0.0.1:0`, `[::1]:9000`.
struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    var host: String
    var port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `nil` unless it is `HOST:PORT` with an IP address; IPv6 in brackets.
    init?(_ text: String) {
        guard let place = HostPort(text), IPAddress.isValid(place.host) else { return nil }
        self.init(host: place.host, port: place.port)
    }

    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// Whether nothing else can have this port of the host.
    func takes(_ port: Int, of host: String) -> Bool {
        port == self.port && (host == self.host || IPAddress.isUnspecified(self.host) || IPAddress.isUnspecified(host))
    }

    var description: String { HostPort(host: host, port: port).description }
}

/// Where the hub's broker listens.
enum HubListen: Sendable, Equatable {
    /// A Unix socket in the data directory.
    case unix
    /// 127.0.0.1 and this port; 0 takes a free one.
    case loopback(port: Int)

    /// `unix`, or `127.0.0.1:PORT`.
    init?(_ text: String) {
        if text == "unix" {
            self = .unix
        } else if let address = ListenAddress(text), address.host == "127.0.0.1" {
            self = .loopback(port: address.port)
        } else {
            return nil
        }
    }
}

/// Where a hub is reached.
enum HubAddress: Sendable, Equatable, CustomStringConvertible {
    case unixSocket(String)
    /// A host's name or address. Without `link.certificateAuthorityFile` it is a loopback address and not encrypted.
    case tcp(host: String, port: Int)

    /// `unix:/absolute/path`, or `HOST:PORT`; IPv6 in brackets.
    init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            self = .unixSocket(String(text.dropFirst(5)))
        } else if let place = HostPort(text), place.port > 0, HostName.isValid(place.host) {
            self = .tcp(host: place.host.lowercased(), port: place.port)
        } else {
            return nil
        }
    }

    /// As it is read.
    var description: String {
        switch self {
        case .unixSocket(let path): "unix:\(path)"
        case .tcp(let host, let port): HostPort(host: host, port: port).description
        }
    }

    /// True for what stays on this machine.
    var isLocal: Bool {
        switch self {
        case .unixSocket: true
        case .tcp(let host, let port): ListenAddress(host: host, port: port).isLoopback
        }
    }
}
