import NIOCore
import Testing

@testable import PeerTransport

@Suite struct HostAddressesTests {
    static func interfaces(_ list: [(String, String)]) throws -> [HostAddresses.Interface] {
        try list.map { HostAddresses.Interface(name: $0.0, address: try SocketAddress(ipAddress: $0.1, port: 5)) }
    }

    static func chosen(_ list: [(String, String)]) throws -> [String] {
        HostAddresses.choose(try interfaces(list)).map { $0.ipAddress ?? "" }
    }

    @Test("Loopback, link-local and container interfaces are omitted if there are others")
    func filters() throws {
        #expect(
            try Self.chosen([
                ("lo", "127.0.0.1"), ("lo", "::1"), ("eth0", "192.0.2.5"), ("eth0", "fe80::1"),
                ("docker0", "172.17.0.1"), ("br-0123456789ab", "172.18.0.1"), ("veth12", "10.1.1.1"),
                ("virbr0", "192.168.122.1"), ("eth1", "169.254.3.4"), ("br-lan", "192.168.1.1"),
            ]) == ["192.0.2.5", "192.168.1.1"])
    }

    @Test("Omitted addresses are used if there are no others")
    func fallsBack() throws {
        #expect(try Self.chosen([("lo", "127.0.0.1"), ("eth0", "169.254.3.4")]) == ["169.254.3.4"])
        #expect(try Self.chosen([("lo", "127.0.0.1"), ("docker0", "172.17.0.1")]) == ["172.17.0.1"])
        #expect(try Self.chosen([("lo", "127.0.0.1")]) == ["127.0.0.1"])
        #expect(try Self.chosen([]) == [])
    }

    @Test("Addresses are in the order of RFC 6724, with alternating families")
    func order() throws {
        #expect(
            try Self.chosen([
                ("a", "192.0.2.1"), ("a", "fd00::1"), ("b", "192.0.2.2"), ("b", "2001:db8::1"), ("c", "2002::1"),
                ("d", "192.0.2.3"),
            ]) == ["2001:db8::1", "192.0.2.1", "2002::1", "192.0.2.2", "fd00::1", "192.0.2.3"])
    }
}
