import ArgumentParser
import GatewayAPI

struct VersionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version of iotctl; status prints the daemon's.",
        discussion: """
            EXAMPLES
              iotctl version
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        if json { return try Console.printJSON(["version": ProductVersion.current]) }
        try Console.print("iotctl \(ProductVersion.current)")
    }
}
