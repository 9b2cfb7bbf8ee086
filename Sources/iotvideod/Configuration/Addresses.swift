import IoTCore

/// An IP address and a port to listen on: `127.0.0.1:0`, `[::1]:9000`.
struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    var host: String
    var port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `nil` unless the text is `HOST:PORT` with an IP address; an IPv6 address is in brackets.
    init?(_ text: String) {
        guard let place = HostPort(text), IPAddress.isValid(place.host) else { return nil }
        self.init(host: place.host, port: place.port)
    }

    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// Whether listening here takes `port` of `host`, so that no other socket can use it.
    func takes(_ port: Int, of host: String) -> Bool {
        port == self.port && (host == self.host || IPAddress.isUnspecified(self.host) || IPAddress.isUnspecified(host))
    }

    var description: String { HostPort(host: host, port: port).description }
}

/// Where the hub's broker listens.
enum HubListen: Sendable, Equatable {
    /// A Unix socket in the data directory.
    case unix
    /// This port of 127.0.0.1; 0 takes a free one.
    case loopback(port: Int)

    /// `nil` for the Unix socket.
    var address: ListenAddress? {
        if case .loopback(let port) = self { ListenAddress(host: "127.0.0.1", port: port) } else { nil }
    }

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

/// The address of a hub.
enum HubAddress: Sendable, Equatable, CustomStringConvertible {
    case unixSocket(String)
    /// A host name or IP address. Without `link.certificateAuthorityFile` it is a loopback address and not encrypted.
    case tcp(host: String, port: Int)

    /// `unix:/absolute/path` or `HOST:PORT`; an IPv6 address is in brackets.
    init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            self = .unixSocket(String(text.dropFirst(5)))
        } else if let place = HostPort(text), place.port > 0, HostName.isValid(place.host) {
            self = .tcp(host: place.host.lowercased(), port: place.port)
        } else {
            return nil
        }
    }

    /// In the form that `init(_:)` reads.
    var description: String {
        switch self {
        case .unixSocket(let path): "unix:\(path)"
        case .tcp(let host, let port): HostPort(host: host, port: port).description
        }
    }

    /// Whether the address is on this machine.
    var isLocal: Bool {
        switch self {
        case .unixSocket: true
        case .tcp(let host, let port): ListenAddress(host: host, port: port).isLoopback
        }
    }
}
