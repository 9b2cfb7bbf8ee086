import IoTCore
import Yams

extension ConfigurationKey {
    static let rtsp: [ConfigurationKey] = [
        ConfigurationKey("rtsp.listen", default: "none", \.rtsp.listen) { node, _ throws(ValueRefusal) in
            guard let address = ListenAddress(try node.text()) else {
                throw ValueRefusal("must be an IP address and a port, such as 0.0.0.0:8554")
            }
            return address
        },
        ConfigurationKey("rtsp.tls", default: "true unless loopback", \.rtsp.tls) { node, _ throws(ValueRefusal) in
            try node.flag()
        },
        ConfigurationKey("rtsp.udpPort", default: "0", \.rtsp.udpPort) { node, _ throws(ValueRefusal) in
            let port = try node.integer(in: 0...65_534)
            guard port % 2 == 0 else {
                throw ValueRefusal("must be even, because RTCP uses the next port (RFC 3550 §11)")
            }
            return port
        },
    ]
}
