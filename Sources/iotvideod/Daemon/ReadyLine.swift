import Foundation
import GatewayAPI
import IoTCore
import IoTLink
import Logging
import ServiceLifecycle

/// Prints one line when the API answers and the link has come online, or cannot.
struct ReadyLine: Service {
    let configuration: Configuration
    /// `nil` when this box acts for no account.
    let link: LinkSession?
    let server: APIServer
    let logger: Logger

    func run() async throws {
        try await server.waitUntilReady()
        for port in await server.boundPorts {
            let scheme = configuration.api.isEncrypted ? "https" : "http"
            logger.notice("the API listens at \(scheme)://\(configuration.api.listen?.host ?? ""), port \(port)")
        }
        if let link {
            await cancelWhenGracefulShutdown {
                for await change in link.statusChanges() where change.status != .registering {
                    tell(change.status)
                    break
                }
            }
        } else {
            tell(nil)
        }
        try await gracefulShutdown()
    }

    /// - Parameter status: of the account's link; `nil` on a box that only has cameras.
    private func tell(_ status: LinkStatus?) {
        let line =
            "iotvideod \(ProductVersion.current) is ready: socket \(configuration.socket), "
            + "\(configuration.cameraCount), \(status.map { "link \($0.name)" } ?? "no account")\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
