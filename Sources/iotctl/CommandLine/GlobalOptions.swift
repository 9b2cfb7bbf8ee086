import ArgumentParser

/// Options of every command that connects to the daemon.
struct GlobalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(help: ArgumentHelp("The daemon of another machine: https://HOST:PORT.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp("A file with a bearer token for --url; - reads standard input.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp("The authority (PEM) of the certificate at --url.", valueName: "file"),
        completion: .file())
    var authorityFile: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// Whether the user may be asked on the terminal.
    var isInteractive = Prompt.isPossible

    private enum CodingKeys: CodingKey {
        case socket, url, tokenFile, authorityFile, json
    }

    func validate() throws {
        guard url == nil || socket == nil else { throw ValidationError("--socket and --url cannot be combined") }
        guard url != nil || authorityFile == nil else { throw ValidationError("--ca requires --url") }
    }

    private func address() async throws -> DaemonAddress {
        guard let url else { return .unixSocket(SocketPath.find(option: socket)) }
        let remote = try RemoteDaemon(url: url, tokenFile: tokenFile, authorityFile: authorityFile)
        return .remote(try await FirstUse(remote, isInteractive: isInteractive).resolve())
    }

    /// Runs `body` with a client and then closes the client.
    func withClient<Value>(_ body: (GatewayClient) async throws -> Value) async throws -> Value {
        let client = try GatewayClient(try await address())
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
