import Foundation
import IoTCore
import Logging
import NIOCore
import NIOPosix
import PeerTransport

/// One peer on the command line, for tests with independent servers and peers: sends sound to the other peer and
/// prints events.
///
/// Lines on standard output: `description BASE64`, `candidate TEXT` (empty at the end), `state NAME`,
/// `error URL CODE TEXT`, and while connected, every 200 ms, `pair LOCAL REMOTE RELAY ADDRESS FRAMES`.
/// Lines on standard input: `description BASE64`, `candidate TEXT`, `restart`, `close`.
@main
enum PeerProbe {
    static func main() async {
        do {
            let options = try ProbeOptions(CommandLine.arguments.dropFirst())
            try await run(options)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: ProbeOptions) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let socket = try await PeerSocket.bind(
            to: SocketAddress(ipAddress: options.bind, port: 0), on: group.next(), logger: Logger(label: "probe"))
        let certificate = try PeerCertificate.generate()
        let probe = try await socket.eventLoop.submit {
            let probe = try ProbeSession(options, socket: socket, certificate: certificate)
            try probe.begin()
            return NIOLoopBound(probe, eventLoop: socket.eventLoop)
        }.get()
        // Blocks only this thread: the peer runs on the group's threads.
        while let line = readLine() {
            let isOpen = try await socket.eventLoop.submit { try probe.value.take(line) }.get()
            if !isOpen { break }
        }
        try await socket.eventLoop.submit { probe.value.end() }.get()
        await socket.close()
        try await group.shutdownGracefully()
    }

    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
