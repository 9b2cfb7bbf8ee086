import NIOCore

/// The machine's interfaces as links for multicast DNS.
enum MulticastInterfaces {
    /// A container host may have hundreds of interfaces: further ones are ignored.
    private static let maximumInterfaces = 32

    /// The interfaces that support multicast and have an address; one link for each IP version of an interface.
    static func links() -> [LinkDescription] {
        var networks: [Int: [LinkDescription.Network]] = [:]
        var names: [Int: String] = [:]
        for device in (try? System.enumerateDevices()) ?? [] where device.multicastSupported {
            guard device.interfaceIndex > 0, let address = device.address?.packedBytes,
                let mask = device.netmask?.packedBytes
            else { continue }
            names[device.interfaceIndex] = device.name
            let prefixLength = mask.reduce(0) { $0 + $1.nonzeroBitCount }
            networks[device.interfaceIndex, default: []].append(
                LinkDescription.Network(address: address, prefixLength: prefixLength))
        }
        return networks.sorted { $0.key < $1.key }.prefix(maximumInterfaces).flatMap { index, networks in
            [false, true].compactMap { isIPv6 in
                guard networks.contains(where: { $0.address.count == (isIPv6 ? 16 : 4) }) else { return nil }
                return LinkDescription(
                    id: ServiceLink(interface: index, isIPv6: isIPv6), name: names[index] ?? "",
                    networks: networks.sorted { $0.address.lexicographicallyPrecedes($1.address) })
            }
        }
    }
}
