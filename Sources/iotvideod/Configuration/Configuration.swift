import IoTCore
import Logging

/// Everything that a user can set. `docs/configuration.md` explains each key; `ConfigurationKey.all` reads them.
struct Configuration: Sendable, Equatable {
    struct Log: Sendable, Equatable {
        var level = Logger.Level.info
    }

    struct Hub: Sendable, Equatable {
        var enabled = true
        /// The broker's program; `nil` looks for `mosquitto` where Debian installs it and in PATH.
        var mosquitto: String?
        var listen = HubListen.unix
    }

    struct Link: Sendable, Equatable {
        /// `nil` with `tokenFile` `nil`: the owner of the hub in this daemon.
        var accessId: AccessID?
        var tokenFile: String?
        /// `nil`: the hub in this daemon.
        var endpoint: LinkAddress?
    }

    struct Media: Sendable, Equatable {
        /// The UDP port of all peer connections; port 0 takes a free one.
        var listen = ListenAddress(host: "127.0.0.1", port: 0)
    }

    struct Channels: Sendable, Equatable {
        var connections = 16
        var idleTimeout = Duration.seconds(30)
    }

    /// The document's directory for state; made with mode 0700.
    var dataDirectory: String
    /// The API's Unix socket.
    var socket: String
    var log = Log()
    var hub = Hub()
    var link = Link()
    var media = Media()
    var channels = Channels()
    var cameras: [CameraConfiguration] = []

    /// The defaults of this user: `/var/lib` and `/run` for root, the XDG directories for others.
    init(defaults: DefaultPaths) {
        dataDirectory = defaults.dataDirectory
        socket = defaults.socket
    }
}
