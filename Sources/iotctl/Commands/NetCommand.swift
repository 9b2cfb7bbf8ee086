import ArgumentParser

struct NetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "net", abstract: "Find cameras, connect a new camera to the network, and bind it.",
        subcommands: [Add.self, Discover.self, QR.self, AP.self, Token.self, Wait.self])

    /// - Throws: If a port is appended to the host. An IPv6 address contains at least two colons.
    static func check(host: String?) throws {
        guard host?.count(where: { $0 == ":" }) != 1 else {
            throw ValidationError("--host is an address or a name; give the port with --port")
        }
    }
}
