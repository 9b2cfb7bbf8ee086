import IoTCore
import Logging
import RecordingStore

/// Everything that a user can configure. `docs/configuration.md` explains each key; `ConfigurationKey.all` reads them.
struct Configuration: Sendable, Equatable {
    struct Log: Sendable, Equatable {
        var level = Logger.Level.info
        /// `nil`: only stderr.
        var file: String?
        /// In bytes. A larger file is renamed to `PATH.1`.
        var maximumSize = 10 << 20
    }

    /// Where the broker listens for other machines.
    struct HubTLS: Sendable, Equatable {
        /// `nil`: the broker does not listen.
        var listen: ListenAddress?
        /// Host names and addresses in the certificate.
        var names: [String] = []
        /// Both or neither. `nil`: a certificate of the hub's own authority.
        var certificateFile: String?
        var keyFile: String?
    }

    struct Hub: Sendable, Equatable {
        /// `nil`: true unless this box has joined another hub.
        var enabled: Bool?
        /// The broker's program; `nil` looks for `mosquitto` where Debian installs it and in PATH.
        var mosquitto: String?
        var listen = HubListen.unix
        var tls = HubTLS()
    }

    struct Link: Sendable, Equatable {
        /// `nil` together with `tokenFile`: the owner of the hub in this daemon, or the account that this box has
        /// joined as.
        var accessId: AccessID?
        var tokenFile: String?
        /// `nil`: the hub in this daemon, or the one that this box has joined.
        var endpoint: HubAddress?
        /// PEM. The only authority that is trusted for the endpoint.
        var certificateAuthorityFile: String?
    }

    struct API: Sendable, Equatable {
        /// `nil`: only the Unix socket.
        var listen: ListenAddress?
        /// `nil`: true unless `listen` is a loopback address.
        var tls: Bool?
        /// Both or neither. `nil`: the certificate of the hub's listener, if configured, or one of this box's own
        /// authority.
        var certificateFile: String?
        var keyFile: String?
        /// Origins (`https://HOST[:PORT]`) of pages that may call the API.
        var allowedOrigins: [String] = []
        /// Host names under which the API answers, besides IP addresses and `localhost`.
        var names: [String] = []
        var requestTimeout = Duration.seconds(60)

        var isEncrypted: Bool { tls ?? !(listen?.isLoopback ?? true) }
    }

    /// The RTSP server.
    struct RTSP: Sendable, Equatable {
        /// `nil` if there is no RTSP server.
        var listen: ListenAddress?
        /// `nil` means true unless `listen` is a loopback address. The certificate is the API's.
        var tls: Bool?
        /// The even UDP port for RTP; the next port is for RTCP. 0 means two free ports. Not used with TLS.
        var udpPort = 0

        var isEncrypted: Bool { tls ?? !(listen?.isLoopback ?? true) }
    }

    /// How this box and others reach each other on their network without the hub.
    struct LAN: Sendable, Equatable {
        /// Where gateways reach the cameras here; `nil`: they do not.
        var listen: ListenAddress?
    }

    struct Media: Sendable, Equatable {
        /// The UDP port of all peer connections; port 0 takes a free one. `nil`: see `mediaAddress(isJoined:)`.
        var listen: ListenAddress?
        /// `stun:`, `turn:` and `turns:` URLs for this box's cameras and their viewers.
        var iceServers: [String] = []
        /// The secret that the TURN servers share with this box.
        var turnSecretFile: String?
        /// If `iceServers` is empty, channels use the servers that a camera names.
        var useCameraServers = true
    }

    /// Where and how the cameras here are recorded.
    struct Recording: Sendable, Equatable {
        /// `nil`: no camera can be recorded.
        var directory: String?
        /// Of cameras that are recorded elsewhere, by their names.
        var cameraDirectories: [String: String] = [:]
        /// Of keys with which recordings are encrypted; the first one is for new recordings. Without any, new recordings
        /// are not encrypted.
        var keyFiles: [String] = []
        var sync = SyncMode.normal
        /// In bytes.
        var freeSpace: Int64 = 1 << 30
        /// `nil`: as long as there is space.
        var maximumDays: Int?
        /// How much is recorded before and after an event.
        var beforeEvent = Duration.seconds(5)
        var afterEvent = Duration.seconds(10)
        /// Of one camera; `nil`: as much as the disk has.
        var cameraBytes: Int64?
    }

    /// How this box is upgraded over its hub.
    struct Firmware: Sendable, Equatable {
        /// The public halves of the release keys that are trusted.
        var keyFiles: [String] = []
        /// When the box upgrades itself for cameras whose `_otaMode` is 2.
        var times = "02:00-05:00"
        /// Where a release waits for the program that installs it. `nil`: the box is not upgraded in this way.
        var directory: String?
        /// The hub's API, `https://HOST:PORT`; `nil`: the socket of the hub in this daemon.
        var url: String?
        /// An API token for `url`.
        var tokenFile: String?
        /// PEM. The only authority that is trusted for `url`.
        var certificateAuthorityFile: String?
    }

    struct Discovery: Sendable, Equatable {
        /// Whether the cameras here are announced on the network; `nil`: see `announces(isJoined:)`.
        var announce: Bool?
    }

    /// The mode in which a person sets this box's network and hub.
    struct Provisioning: Sendable, Equatable {
        enum Way: String, Sendable, CaseIterable {
            /// Over the camera's own access point.
            case ap
            /// By a QR code in front of the camera.
            case qr
            /// Over the wired network that the box is already in.
            case lan
            /// By unencrypted UDP, for the apps of other makers.
            case plaintext
        }

        enum Applier: String, Sendable, CaseIterable {
            case nmcli
            case wpaSupplicant = "wpa_supplicant"
            case dryRun
        }

        /// If empty, the box has no provisioning mode.
        var ways: [Way] = []
        /// If `nil`, port 80 of `interface`.
        var listen: ListenAddress?
        /// The interface of the access point and of Wi-Fi.
        var interface: String?
        /// The proof of possession (security 1).
        var possessionFile: String?
        /// The user of security 2, and the file with that user's password.
        var user: String?
        var passwordFile: String?
        var applier = Applier.nmcli
        /// The networks that a dry run knows; if `nil`, it joins every network.
        var dryRunFile: String?
        var timeout = Duration.seconds(600)

        var isOn: Bool { !ways.isEmpty }
        /// Whether the box serves Espressif's provisioning.
        var isServed: Bool { ways.contains { $0 == .ap || $0 == .lan } }
        /// Whether the box listens on a port.
        var listens: Bool { ways.contains { $0 != .qr } }
    }

    struct Channels: Sendable, Equatable {
        var connections = 16
        var calls = 256
        var idleTimeout = Duration.seconds(30)
    }

    struct Definitions: Sendable, Equatable {
        /// What a user gets who asks for no definition: the words of `WantedDefinition.list`, in order. `high` if it is
        /// empty, or the camera has none of them.
        var preferred: [String] = []
    }

    /// The directory for the daemon's state; created with mode 0700.
    var dataDirectory: String
    /// The API's Unix socket.
    var socket: String
    var log = Log()
    var hub = Hub()
    var link = Link()
    var api = API()
    var rtsp = RTSP()
    var lan = LAN()
    var media = Media()
    var recording = Recording()
    var firmware = Firmware()
    var channels = Channels()
    var definitions = Definitions()
    var discovery = Discovery()
    var provisioning = Provisioning()
    var cameras: [CameraSettings] = []

    /// The user's defaults: `/var/lib` and `/run` for root, the XDG directories for others.
    init(defaults: DefaultPaths) {
        dataDirectory = defaults.dataDirectory
        socket = defaults.socket
    }

    /// For messages: "1 camera", "2 cameras".
    var cameraCount: String { "\(cameras.count) camera\(cameras.count == 1 ? "" : "s")" }
}
