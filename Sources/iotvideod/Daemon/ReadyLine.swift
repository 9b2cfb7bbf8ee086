import Foundation
import GatewayAPI
import IoTCore
import IoTLink
import ServiceLifecycle

/// Prints one line when the API answers and the link has come online, or cannot.
struct ReadyLine: Service {
    let configuration: Configuration
    let link: LinkSession
    let server: APIServer

    func run() async throws {
        try await server.waitUntilReady()
        await cancelWhenGracefulShutdown {
            for await change in link.statusChanges() where change.status != .registering {
                let cameras = configuration.cameras.count
                let line =
                    "iotvideod \(ProductVersion.current) is ready: socket \(configuration.socket), "
                    + "\(cameras) camera\(cameras == 1 ? "" : "s"), link \(change.status.name)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
                break
            }
        }
        try await gracefulShutdown()
    }
}
