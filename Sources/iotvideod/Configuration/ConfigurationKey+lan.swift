import IoTCore
import Yams

extension ConfigurationKey {
    static let lan: [ConfigurationKey] = [
        // Gateways remember the port, so it must be the same after a restart.
        ConfigurationKey("lan.listen", default: "none", \.lan.listen) { node, _ throws(ValueRefusal) in
            guard let address = ListenAddress(try node.text()), address.port != 0 else {
                throw ValueRefusal("must be an IP address and a port, such as 0.0.0.0:7443")
            }
            return address
        }
    ]
}
