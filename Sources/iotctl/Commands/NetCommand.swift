import ArgumentParser

struct NetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "net", abstract: "Bring a new camera into the network.",
        subcommands: [QR.self, Token.self, Wait.self])
}
