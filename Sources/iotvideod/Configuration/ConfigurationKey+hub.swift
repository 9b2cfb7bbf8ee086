import IoTCore
import Yams

extension ConfigurationKey {
    static let hub: [ConfigurationKey] = [
        ConfigurationKey("hub.enabled", default: "true unless joined", \.hub.enabled) {
            node, _ throws(ValueRefusal) in try node.flag()
        },
        ConfigurationKey("hub.mosquitto", default: "found", \.hub.mosquitto) { node, context throws(ValueRefusal) in
            context.path(try node.text())
        },
        ConfigurationKey("hub.listen", default: "unix", \.hub.listen) { node, _ throws(ValueRefusal) in
            guard let listen = HubListen(try node.text()) else {
                throw ValueRefusal("must be unix or 127.0.0.1:PORT; hub.tls.listen is for other machines")
            }
            return listen
        },
        ConfigurationKey("hub.tls.listen", default: "none", \.hub.tls.listen) { node, _ throws(ValueRefusal) in
            guard let address = ListenAddress(try node.text()), address.port > 0 else {
                throw ValueRefusal("must be an IP address and a port of at least 1, such as 0.0.0.0:8883")
            }
            return address
        },
        ConfigurationKey("hub.tls.names", default: "[]", \.hub.tls.names) { node, _ throws(ValueRefusal) in
            try node.list { item throws(ValueRefusal) in try item.hostName() }
        },
        ConfigurationKey("hub.tls.certificateFile", default: "the hub's own", \.hub.tls.certificateFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("hub.tls.keyFile", default: "the hub's own", \.hub.tls.keyFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
    ]

    static let link: [ConfigurationKey] = [
        ConfigurationKey("link.accessId", default: "the hub's owner", \.link.accessId) {
            node, _ throws(ValueRefusal) in
            guard let id = AccessID(rawValue: try node.text()) else {
                throw ValueRefusal("must be 1 to 64 of a–z, 0–9, _ and -")
            }
            return id
        },
        ConfigurationKey("link.tokenFile", default: "the hub's own", \.link.tokenFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("link.endpoint", default: "the hub's own", \.link.endpoint) { node, _ throws(ValueRefusal) in
            guard let address = HubAddress(try node.text()) else {
                throw ValueRefusal("must be unix:/PATH, or HOST:PORT")
            }
            return address
        },
        ConfigurationKey("link.certificateAuthorityFile", default: "none", \.link.certificateAuthorityFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
    ]
}
