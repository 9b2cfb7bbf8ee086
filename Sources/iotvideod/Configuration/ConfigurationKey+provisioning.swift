import IoTCore
import Yams

extension ConfigurationKey {
    static let provisioning: [ConfigurationKey] = [
        ConfigurationKey("provisioning.ways", default: "[]", \.provisioning.ways) { node, _ throws(ValueRefusal) in
            let ways = try node.list { item throws(ValueRefusal) in
                try item.choice(Configuration.Provisioning.Way.self)
            }
            guard Set(ways).count == ways.count else { throw ValueRefusal("must not contain a way twice") }
            return ways
        },
        ConfigurationKey("provisioning.listen", default: "automatic", \.provisioning.listen) {
            node, _ throws(ValueRefusal) in
            guard let address = ListenAddress(try node.text()) else {
                throw ValueRefusal("must be an IP address and a port, such as 192.168.4.1:80")
            }
            return address
        },
        ConfigurationKey("provisioning.interface", default: "none", \.provisioning.interface) {
            node, _ throws(ValueRefusal) in
            let name = try node.text()
            // The limit is IFNAMSIZ. The name becomes part of a socket's path.
            guard name.utf8.count < 16, !name.contains("/"), !name.contains(where: \.isWhitespace) else {
                throw ValueRefusal("must be the name of an interface, such as wlan0")
            }
            return name
        },
        ConfigurationKey("provisioning.possessionFile", default: "none", \.provisioning.possessionFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("provisioning.user", default: "none", \.provisioning.user) { node, _ throws(ValueRefusal) in
            let user = try node.text()
            guard (1...64).contains(user.utf8.count) else { throw ValueRefusal("must have 1 to 64 bytes") }
            return user
        },
        ConfigurationKey("provisioning.passwordFile", default: "none", \.provisioning.passwordFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("provisioning.applier", default: "nmcli", \.provisioning.applier) {
            node, _ throws(ValueRefusal) in try node.choice(Configuration.Provisioning.Applier.self)
        },
        ConfigurationKey("provisioning.dryRunFile", default: "none", \.provisioning.dryRunFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("provisioning.timeout", default: "10m", \.provisioning.timeout) {
            node, _ throws(ValueRefusal) in try node.duration(in: .seconds(1)...(.seconds(3600)))
        },
    ]
}
