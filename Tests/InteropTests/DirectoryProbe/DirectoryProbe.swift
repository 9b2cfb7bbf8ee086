import Foundation
import IoTCore
import Logging
import NIOCore
import NIOPosix
import NetConfig

/// DNS-SD on the command line, for tests with Avahi: `directory-probe automatic|avahi|multicastDNS`.
///
/// Lines on standard input: `announce JSON` with a list of cameras, `search`, `close`. Lines on standard output: `ok`
/// after each, `found JSON` with a device, `lost TYPE NAME`. The log is written to standard error.
@main
enum DirectoryProbe {
    private struct Camera: Decodable {
        var name: String
        var id: String
        var hasOwner: Bool

        var announced: AnnouncedCamera {
            AnnouncedCamera(
                name: name, deviceID: id, productID: "12345", serialNumber: "SN-\(id)", version: "1.2.3",
                macAddress: "02:00:00:00:00:07", hasOwner: hasOwner, port: 5_000)
        }
    }

    static func main() async {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        do {
            guard let way = LocalServices.Way(rawValue: CommandLine.arguments.dropFirst().first ?? "") else {
                throw IoTError(.invalidParameter, "say automatic, avahi or multicastDNS")
            }
            try await run(way)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ way: LocalServices.Way) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let services = try await LocalServices(on: loop, way: way, logger: Logger(label: "probe"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Blocks only this thread: the services run on the loop's thread.
            while let line = readLine() {
                let words = line.split(separator: " ", maxSplits: 1)
                switch words.first {
                case "announce":
                    let cameras = try JSONDecoder().decode([Camera].self, from: Data((words.last ?? "").utf8))
                    try await services.announce(cameras: cameras.map(\.announced))
                case "search":
                    let events = services.events()
                    group.addTask { for await event in events { try say(event) } }
                default: break
                }
                say("ok")
                if words.first == "close" { break }
            }
            await services.close()
        }
    }

    private static func say(_ event: ServiceEvent) throws {
        switch event {
        case .found(let instance):
            say("found " + String(decoding: try JSONEncoder().encode(instance.device), as: UTF8.self))
        case .lost(let key): say("lost \(key.type.rawValue) \(key.name)")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
