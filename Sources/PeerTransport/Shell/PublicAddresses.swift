package import NIOCore

/// The addresses of a host that others may make this machine contact.
package enum PublicAddresses {
    /// Resolves a name, and leaves out this machine, its link, and multicast groups; and private networks, unless they
    /// are allowed. The connection must be made to one of the results: another look-up could give another address.
    ///
    /// - Returns: `nil` if the host has no address at all.
    package static func resolve(
        _ host: String, port: Int, allowsPrivate: Bool, on eventLoop: any EventLoop
    ) async throws -> [SocketAddress]? {
        var found = (try? SocketAddress(ipAddress: host, port: port)).map { [$0] } ?? []
        if found.isEmpty { found = try await NameResolver.shared.addresses(of: host, on: eventLoop).get() }
        guard !found.isEmpty else { return nil }
        for index in found.indices { found[index].port = port }
        return found.filter { address in
            address.isReachableUnicast && !address.isThisMachineOrLink && (allowsPrivate || !address.leadsToPrivate)
        }
    }
}
