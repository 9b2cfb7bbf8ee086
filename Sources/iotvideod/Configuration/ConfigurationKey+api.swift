import IoTCore
import Yams

extension ConfigurationKey {
    static let api: [ConfigurationKey] = [
        ConfigurationKey("api.listen", default: "none", \.api.listen) { node, _ throws(ValueRefusal) in
            guard let address = ListenAddress(try node.text()) else {
                throw ValueRefusal("must be an IP address and a port, such as 127.0.0.1:8080 or 0.0.0.0:8443")
            }
            return address
        },
        ConfigurationKey("api.tls", default: "true unless loopback", \.api.tls) { node, _ throws(ValueRefusal) in
            try node.flag()
        },
        ConfigurationKey("api.certificateFile", default: "the box's own", \.api.certificateFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("api.keyFile", default: "the box's own", \.api.keyFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("api.allowedOrigins", default: "[]", \.api.allowedOrigins) { node, _ throws(ValueRefusal) in
            try node.list { item throws(ValueRefusal) in
                let text = try item.text()
                guard WebOrigin.isValid(text) else {
                    throw ValueRefusal("contains '\(text)': an origin is https://HOST[:PORT] or http://HOST[:PORT]")
                }
                return text.lowercased()
            }
        },
        ConfigurationKey("api.names", default: "[]", \.api.names) { node, _ throws(ValueRefusal) in
            try node.list { item throws(ValueRefusal) in try item.hostName() }
        },
        ConfigurationKey("api.requestTimeout", default: "60s", \.api.requestTimeout) {
            node, _ throws(ValueRefusal) in try node.duration(in: .seconds(1)...(.seconds(3600)))
        },
    ]
}
