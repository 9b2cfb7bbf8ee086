import NIOCore
import NIOPosix
import Testing

@testable import PeerTransport

@Suite struct PublicAddressesTests {
    private func addresses(_ host: String, private allowsPrivate: Bool) async throws -> Int {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try #require(
            try await PublicAddresses.resolve(host, port: 80, allowsPrivate: allowsPrivate, on: loop)
        ).count
    }

    @Test(
        "This machine, its link and groups are left out in every notation, also for an administrator",
        arguments: [
            "127.0.0.1", "127.9.9.9", "0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255", "::1", "::",
            "fe80::1", "ff02::1", "::ffff:127.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::1", "localhost",
        ])
    func machine(host: String) async throws {
        #expect(try await addresses(host, private: true) == 0)
        #expect(try await addresses(host, private: false) == 0)
    }

    @Test(
        "A private network is for administrators only",
        arguments: [
            "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1", "64:ff9b::a00:1", "2002:c0a8:101::1",
        ])
    func network(host: String) async throws {
        #expect(try await addresses(host, private: true) == 1)
        #expect(try await addresses(host, private: false) == 0)
    }

    @Test("Public addresses are allowed", arguments: ["192.0.2.1", "8.8.8.8", "2001:db8::1"])
    func open(host: String) async throws {
        #expect(try await addresses(host, private: false) == 1)
    }

    @Test("A name without an address is not the same as one that is refused")
    func missing() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        #expect(
            try await PublicAddresses.resolve("receiver.invalid", port: 80, allowsPrivate: true, on: loop) == nil)
    }
}
