import ArgumentParser

struct NetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "net", abstract: "Find cameras, and bring a new one into the network.",
        subcommands: [Add.self, Discover.self, QR.self, AP.self, Token.self, Wait.self])
}
