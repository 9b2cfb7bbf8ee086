import Foundation
import TestSupport
import Testing

/// Hosts on one switch, made of network namespaces of this machine; needs root. They are removed with this object.
final class TestNetwork: Sendable {
    private let name: String
    private let subnet: Int
    let hosts: [String]

    /// - Parameter hosts: The names of at most 200 hosts.
    init(hosts: [String]) async throws {
        let number = Int.random(in: 0..<(1 << 20))
        name = "iotv" + String(number, radix: 36)
        // RFC 2544's block for tests of network devices: it has no public addresses.
        subnet = number % 250
        self.hosts = hosts
        try await ip("netns add \(switchNamespace)")
        try await ip("-n \(switchNamespace) link add switch type bridge")
        try await ip("-n \(switchNamespace) link set switch up")
        for host in hosts {
            let inside = namespace(host)
            let port = "port\(index(host))"
            try await ip("netns add \(inside)")
            try await ip("-n \(inside) link set lo up")
            try await ip("link add eth0 netns \(inside) type veth peer name \(port) netns \(switchNamespace)")
            try await ip("-n \(switchNamespace) link set \(port) master switch up")
            try await ip("-n \(inside) address add \(address(host))/24 dev eth0")
            try await ip("-n \(inside) link set eth0 up")
        }
    }

    /// The host's IPv4 address.
    func address(_ host: String) -> String {
        "198.18.\(subnet).\(index(host) + 1)"
    }

    /// The prefix that makes a command run on the host; the process stays the same.
    func prefix(_ host: String) -> [String] {
        ["ip", "netns", "exec", namespace(host)]
    }

    /// Unplugs the host's cable, or plugs it in again.
    func setLink(_ host: String, isUp: Bool) async throws {
        try await ip("-n \(namespace(host)) link set eth0 \(isUp ? "up" : "down")")
    }

    /// Drops some of the UDP that comes to the host, at random.
    func lose(percent: Int, of host: String) async throws {
        try await filter(
            host, "loss",
            [
                "chain inet loss in { type filter hook input priority 0 ; }",
                "rule inet loss in iifname eth0 meta l4proto udp numgen random mod 100 < \(percent) drop",
            ])
    }

    /// Drops all of the host's UDP except to and from one remote port, like a strict firewall.
    func allowUDP(of host: String, onlyTo port: Int) async throws {
        try await filter(
            host, "strict",
            [
                "chain inet strict out { type filter hook output priority 0 ; }",
                "rule inet strict out oifname eth0 udp dport != \(port) drop",
                "chain inet strict in { type filter hook input priority 0 ; }",
                "rule inet strict in iifname eth0 udp sport != \(port) drop",
            ])
    }

    /// Adds a table of the packet filter to the host.
    private func filter(_ host: String, _ table: String, _ rules: [String]) async throws {
        for rule in ["table inet \(table)"] + rules {
            let words = ["nft", "add"] + rule.split(separator: " ").map(String.init)
            let outcome = try await Program(path: "/usr/bin/env", arguments: prefix(host) + words).run()
            try #require(outcome.status == 0, "nft add \(rule): \(outcome.errors)")
        }
    }

    private var switchNamespace: String { name + "-switch" }

    private func namespace(_ host: String) -> String { "\(name)-\(host)" }

    private func index(_ host: String) -> Int { hosts.firstIndex(of: host)! }

    private func ip(_ command: String) async throws {
        let outcome = try await Program.named("ip", command.split(separator: " ").map(String.init)).run()
        try #require(outcome.status == 0, "ip \(command): \(outcome.errors) (network namespaces need root)")
    }

    deinit {
        for space in hosts.map(namespace) + [switchNamespace] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["ip", "netns", "delete", space]
            process.standardError = FileHandle.nullDevice
            try? process.start()
            process.waitUntilExit()
        }
    }
}
