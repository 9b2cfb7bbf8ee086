import IoTCore
import NIOCore

/// An interface of this machine with a network to search.
public struct LANInterface: Hashable, Sendable {
    struct Network: Hashable, Sendable {
        var address: [UInt8]
        var mask: [UInt8]

        func contains(_ other: [UInt8]) -> Bool {
            other.count == address.count && other.count == mask.count
                && other.indices.allSatisfy { other[$0] & mask[$0] == address[$0] & mask[$0] }
        }
    }

    public var name: String
    var index: Int
    /// The first IPv4 address.
    var ipv4: IPAddress?
    /// The link-local IPv6 address, with its zone: the source of multicast on the link (RFC 4291 §2.7).
    var ipv6: IPAddress?
    private var networks: [Network] = []

    /// The interfaces that support multicast, by name.
    public static func all() -> [LANInterface] {
        found { $0.multicastSupported && !isLoopback($0) }
    }

    /// The loopback interface, which few systems report as supporting multicast.
    static func loopback() -> LANInterface? { found(where: isLoopback).first }

    private static func isLoopback(_ device: NIONetworkDevice) -> Bool {
        guard let text = device.address?.ipAddress else { return false }
        return text == "::1" || text.hasPrefix("127.")
    }

    private static func found(where isWanted: (NIONetworkDevice) -> Bool) -> [LANInterface] {
        var interfaces: [String: LANInterface] = [:]
        for device in (try? System.enumerateDevices()) ?? [] where isWanted(device) {
            guard let text = device.address?.ipAddress, let address = IPAddress(text.prefix { $0 != "%" }) else {
                continue
            }
            var interface = interfaces[device.name] ?? LANInterface(name: device.name, index: device.interfaceIndex)
            if !address.isIPv6 {
                interface.ipv4 = interface.ipv4 ?? address
            } else if address.isLinkLocal {
                interface.ipv6 = interface.ipv6 ?? address.zoned(device.name)
            }
            if let mask = device.netmask?.ipAddress.flatMap({ IPAddress($0.prefix { $0 != "%" }) }) {
                interface.networks.append(Network(address: address.bytes, mask: mask.bytes))
            }
            interfaces[device.name] = interface
        }
        return interfaces.values.filter { $0.ipv4 != nil || $0.ipv6 != nil }.sorted { $0.name < $1.name }
    }

    /// Whether the address is one of this interface's own.
    func has(_ address: IPAddress) -> Bool {
        networks.contains { $0.address == address.bytes }
    }

    private init(name: String, index: Int) {
        self.name = name
        self.index = index
    }

    /// Whether the address is on this link: only these addresses get answers.
    func isOnLink(_ address: IPAddress) -> Bool {
        let bytes = address.bytes
        return address.isLinkLocal || networks.contains { $0.contains(bytes) }
    }
}
