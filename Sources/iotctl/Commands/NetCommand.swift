import ArgumentParser

struct NetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "net", abstract: "Find cameras, connect a new camera to the network, and bind it.",
        subcommands: [Discover.self, QR.self, AP.self, Token.self, Wait.self])
}
