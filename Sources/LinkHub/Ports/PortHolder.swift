import Foundation
package import Glibc

/// The process that has a port, as far as this account may see it.
package struct PortHolder: Sendable, Equatable, CustomStringConvertible {
    package enum Transport: String, Sendable {
        case tcp, udp
    }

    /// `nil` for a process of another account, because this account cannot read its files.
    package var process: pid_t?
    /// The program's name.
    package var name: String?
    package var account: String

    package var description: String {
        if let process, let name { return "\(name), process \(process)" }
        return "a process of the account '\(account)'"
    }

    /// Whether it is, or may be, Debian's own mosquitto service.
    package var isMosquitto: Bool { (name ?? account) == "mosquitto" }

    /// - Parameter host: an IP address.
    /// - Returns: `nil` if the port is free or its holder cannot be found.
    package static func find(_ transport: Transport, host: String, port: Int) -> PortHolder? {
        guard let address = bytes(of: host) else { return nil }
        for suffix in ["", "6"] {
            // Not /proc/net, which is hidden in a unit with ProcSubset=pid (systemd.exec(5)).
            guard let data = FileManager.default.contents(atPath: "/proc/self/net/\(transport.rawValue)\(suffix)")
            else { continue }
            let table = SocketTable(parsing: String(decoding: data, as: UTF8.self))
            if let entry = table.holder(of: address, port: port, mustListen: transport == .tcp) {
                let process = holder(ofSocket: entry.inode)
                return PortHolder(process: process, name: process.flatMap(name), account: account(entry.user))
            }
        }
        return nil
    }

    package static func name(of process: pid_t) -> String? {
        FileManager.default.contents(atPath: "/proc/\(process)/comm").map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .newlines)
        }
    }

    private static func bytes(of host: String) -> [UInt8]? {
        var address = in6_addr()
        let text = host.split(separator: "%").first.map(String.init) ?? host
        if inet_pton(AF_INET, text, &address) == 1 { return withUnsafeBytes(of: address) { Array($0.prefix(4)) } }
        if inet_pton(AF_INET6, text, &address) == 1 { return withUnsafeBytes(of: address) { Array($0) } }
        return nil
    }

    private static func holder(ofSocket inode: UInt64) -> pid_t? {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.lazy.compactMap { pid_t($0) }.first { process in
            let folder = "/proc/\(process)/fd"
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return files.contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == "socket:[\(inode)]"
            }
        }
    }

    private static func account(_ user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? String(user)
    }
}
