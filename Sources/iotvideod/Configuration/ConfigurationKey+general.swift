import IoTCore
import Logging
import PeerTransport
import Yams

extension ConfigurationKey {
    static let general: [ConfigurationKey] = [
        ConfigurationKey("dataDirectory", default: "see below", \.dataDirectory) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("socket", default: "see below", \.socket) { node, context throws(ValueRefusal) in
            let path = context.path(try node.text())
            guard path.utf8.count <= UnixSocketPath.maximumLength else {
                throw ValueRefusal(
                    "is longer than \(UnixSocketPath.maximumLength) bytes, the limit of a socket's path")
            }
            return path
        },
        ConfigurationKey("log.level", default: "info", \.log.level, effect: .atOnce) { node, _ throws(ValueRefusal) in
            try node.choice(Logger.Level.self)
        },
        ConfigurationKey("log.file", default: "none", \.log.file, effect: .atOnce) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("log.maximumSize", default: "10485760", \.log.maximumSize, effect: .atOnce) {
            node, _ throws(ValueRefusal) in try node.integer(in: 65_536...1_073_741_824)
        },
        ConfigurationKey("media.listen", default: "automatic", \.media.listen) { node, _ throws(ValueRefusal) in
            guard let address = ListenAddress(try node.text()) else {
                throw ValueRefusal("must be an IP address and a port, such as 127.0.0.1:0 or [::]:9000")
            }
            return address
        },
        ConfigurationKey("media.iceServers", default: "[]", \.media.iceServers) { node, _ throws(ValueRefusal) in
            try node.list { item throws(ValueRefusal) in
                let url = try item.text()
                guard (try? ICEServer(urls: [url], username: "any", credential: "any")) != nil else {
                    throw ValueRefusal(
                        "contains '\(url)': it must be stun:HOST:PORT, turn:HOST:PORT?transport=udp or turns:HOST:PORT")
                }
                return url
            }
        },
        ConfigurationKey("media.turnSecretFile", default: "none", \.media.turnSecretFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("media.useCameraServers", default: "true", \.media.useCameraServers) {
            node, _ throws(ValueRefusal) in try node.flag()
        },
        ConfigurationKey("discovery.announce", default: "automatic", \.discovery.announce) {
            node, _ throws(ValueRefusal) in try node.flag()
        },
        ConfigurationKey("channels.connections", default: "16", \.channels.connections, effect: .atOnce) {
            node, _ throws(ValueRefusal) in try node.integer(in: 1...1024)
        },
        ConfigurationKey("channels.calls", default: "256", \.channels.calls, effect: .atOnce) {
            node, _ throws(ValueRefusal) in try node.integer(in: 1...1000)
        },
        ConfigurationKey("channels.idleTimeout", default: "30s", \.channels.idleTimeout, effect: .atOnce) {
            node, _ throws(ValueRefusal) in try node.duration(in: .seconds(1)...(.seconds(3600)))
        },
        ConfigurationKey("definitions.preferred", default: "[]", \.definitions.preferred) {
            node, _ throws(ValueRefusal) in
            let words = try node.list { item throws(ValueRefusal) in try item.text() }
            guard words.isEmpty || WantedDefinition.list(words.joined(separator: ",")) != nil else {
                throw ValueRefusal("must be a list of low, mid, high, audio and heights such as 720p")
            }
            return words
        },
    ]
}
