import ArgumentParser

/// Options of every command that talks to the daemon.
struct GlobalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's socket.", valueName: "path"))
    var socket: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// Runs `body` with a client and closes it behind.
    func withClient<Value>(_ body: (GatewayClient) async throws -> Value) async throws -> Value {
        let client = GatewayClient(socket: SocketPath.find(option: socket))
        do {
            let value = try await body(client)
            await client.close()
            return value
        } catch {
            await client.close()
            throw error
        }
    }
}
