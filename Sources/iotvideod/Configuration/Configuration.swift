import IoTCore
import Logging

/// Everything that a user can set. `docs/configuration.md` explains each key; `ConfigurationKey.all` reads them.
struct Configuration: Sendable, Equatable {
    struct Log: Sendable, Equatable {
        var level = Logger.Level.info
    }

    /// Where the broker listens for other machines.
    struct HubTLS: Sendable, Equatable {
        /// `nil`: nowhere.
        var listen: ListenAddress?
        /// Host names and addresses that the certificate names.
        var names: [String] = []
        /// Both or neither; `nil`: a certificate of the hub's own authority.
        var certificateFile: String?
        var keyFile: String?
    }

    struct Hub: Sendable, Equatable {
        /// `nil`: unless this box has joined another hub.
        var enabled: Bool?
        /// The broker's program; `nil` looks for `mosquitto` where Debian installs it and in PATH.
        var mosquitto: String?
        var listen = HubListen.unix
        var tls = HubTLS()
    }

    struct Link: Sendable, Equatable {
        /// `nil` with `tokenFile` `nil`: the owner of the hub in this daemon, or whom this box has joined as.
        var accessId: AccessID?
        var tokenFile: String?
        /// `nil`: the hub in this daemon, or the one that this box has joined.
        var endpoint: HubAddress?
        /// PEM; the only authority that is trusted with the endpoint.
        var certificateAuthorityFile: String?
    }

    struct API: Sendable, Equatable {
        /// `nil`: the Unix socket alone.
        var listen: ListenAddress?
        /// `nil`: unless the address is a loopback one.
        var tls: Bool?
        /// Both or neither; `nil`: the hub's listener's if that is given, or one of this box's own authority.
        var certificateFile: String?
        var keyFile: String?
        /// `https://HOST[:PORT]` of pages that may call the API.
        var allowedOrigins: [String] = []
        /// Host names under which the API answers, beside addresses and `localhost`.
        var names: [String] = []
        var requestTimeout = Duration.seconds(60)

        var isEncrypted: Bool { tls ?? !(listen?.isLoopback ?? true) }
    }

    struct Media: Sendable, Equatable {
        /// The UDP port of all peer connections; port 0 takes a free one. `nil`: see `mediaAddress(isJoined:)`.
        var listen: ListenAddress?
        /// `stun:`, `turn:` and `turns:` URLs for the cameras here and those who watch them.
        var iceServers: [String] = []
        /// What the TURN servers among them share with us.
        var turnSecretFile: String?
        /// Where `iceServers` is empty, channels ask the servers that a camera names.
        var useCameraServers = true
    }

    struct Discovery: Sendable, Equatable {
        /// Whether the network is told of the cameras here; `nil`: see `announces(isJoined:)`.
        var announce: Bool?
    }

    struct Channels: Sendable, Equatable {
        var connections = 16
        var calls = 256
        var idleTimeout = Duration.seconds(30)
    }

    /// The document's directory for state; made with mode 0700.
    var dataDirectory: String
    /// The API's Unix socket.
    var socket: String
    var log = Log()
    var hub = Hub()
    var link = Link()
    var api = API()
    var media = Media()
    var channels = Channels()
    var discovery = Discovery()
    var cameras: [CameraSettings] = []

    /// The defaults of this user: `/var/lib` and `/run` for root, the XDG directories for others.
    init(defaults: DefaultPaths) {
        dataDirectory = defaults.dataDirectory
        socket = defaults.socket
    }

    /// In words.
    var cameraCount: String { "\(cameras.count) camera\(cameras.count == 1 ? "" : "s")" }
}
