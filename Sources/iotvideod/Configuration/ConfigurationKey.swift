import IoTCore
import Logging
import Yams

/// One key: its name, its default as `docs/configuration.md` prints it, and how its value is read.
struct ConfigurationKey: Sendable {
    /// A file that is being read.
    struct Context: Sendable {
        var file: String
        /// The file's directory: relative paths in it are relative to that.
        var directory: String

        func path(_ text: String) -> String {
            text.hasPrefix("/") ? text : directory + "/" + text
        }
    }

    /// `hub.listen`; for a list's items `cameras[].url`.
    let name: String
    let defaultText: String
    let apply: @Sendable (Node, Context, inout Configuration) throws(ValueRefusal) -> Void

    init(
        _ name: String, default defaultText: String,
        _ apply: @escaping @Sendable (Node, Context, inout Configuration) throws(ValueRefusal) -> Void
    ) {
        self.name = name
        self.defaultText = defaultText
        self.apply = apply
    }

    /// Every key outside of lists.
    static let all: [ConfigurationKey] = [
        ConfigurationKey("dataDirectory", default: "see below") { node, context, configuration throws(ValueRefusal) in
            configuration.dataDirectory = context.path(try node.text())
        },
        ConfigurationKey("socket", default: "see below") { node, context, configuration throws(ValueRefusal) in
            let path = context.path(try node.text())
            guard path.utf8.count <= UnixSocketPath.maximumLength else {
                throw ValueRefusal(
                    "is longer than the \(UnixSocketPath.maximumLength) bytes that a socket's path may have")
            }
            configuration.socket = path
        },
        ConfigurationKey("log.level", default: "info") { node, _, configuration throws(ValueRefusal) in
            configuration.log.level = try node.choice(Logger.Level.self)
        },
        ConfigurationKey("hub.enabled", default: "true") { node, _, configuration throws(ValueRefusal) in
            configuration.hub.enabled = try node.flag()
        },
        ConfigurationKey("hub.mosquitto", default: "found") { node, context, configuration throws(ValueRefusal) in
            configuration.hub.mosquitto = context.path(try node.text())
        },
        ConfigurationKey("hub.listen", default: "unix") { node, _, configuration throws(ValueRefusal) in
            guard let listen = HubListen(try node.text()) else { throw ValueRefusal("must be unix or 127.0.0.1:PORT") }
            configuration.hub.listen = listen
        },
        ConfigurationKey("link.accessId", default: "the hub's owner") { node, _, configuration throws(ValueRefusal) in
            guard let id = AccessID(rawValue: try node.text()) else {
                throw ValueRefusal("must be 1 to 64 of a–z, 0–9, _ and -")
            }
            configuration.link.accessId = id
        },
        ConfigurationKey("link.tokenFile", default: "the hub's own") {
            node, context, configuration throws(ValueRefusal) in
            configuration.link.tokenFile = context.path(try node.text())
        },
        ConfigurationKey("link.endpoint", default: "the hub's own") { node, _, configuration throws(ValueRefusal) in
            guard let address = LinkAddress(try node.text()) else {
                throw ValueRefusal("must be unix:/PATH, or HOST:PORT on the loopback interface")
            }
            configuration.link.endpoint = address
        },
        ConfigurationKey("media.listen", default: "127.0.0.1:0") { node, _, configuration throws(ValueRefusal) in
            guard let address = ListenAddress(try node.text()) else {
                throw ValueRefusal("must be an IP address and a port, such as 127.0.0.1:0 or [::]:9000")
            }
            configuration.media.listen = address
        },
        ConfigurationKey("channels.connections", default: "16") { node, _, configuration throws(ValueRefusal) in
            configuration.channels.connections = try node.integer(in: 1...1024)
        },
        ConfigurationKey("channels.idleTimeout", default: "30s") { node, _, configuration throws(ValueRefusal) in
            configuration.channels.idleTimeout = try node.duration(in: .seconds(1)...(.seconds(3600)))
        },
    ]
}
