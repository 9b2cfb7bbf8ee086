import Foundation
import GatewayAPI
import IoTCore
import IoTLink
import Logging
import ServiceLifecycle

/// Prints one line when the API answers and the link is online or has failed.
struct ReadyLine: Service {
    let configuration: Configuration
    /// `nil` if this box acts for no account.
    let link: LinkSession?
    let server: APIServer
    /// `nil` if no RTSP server is configured.
    let rtsp: RTSPServer?
    let logger: Logger

    func run() async throws {
        try await server.waitUntilReady()
        for port in await server.boundPorts {
            let scheme = configuration.api.isEncrypted ? "https" : "http"
            logger.notice("the API listens", metadata: ["api.scheme": "\(scheme)", "api.port": "\(port)"])
        }
        if let rtsp {
            let port = try await rtsp.readiness.wait()
            let scheme = configuration.rtsp.isEncrypted ? "rtsps" : "rtsp"
            logger.notice("RTSP listens", metadata: ["rtsp.scheme": "\(scheme)", "rtsp.port": "\(port)"])
        }
        if let link {
            await cancelWhenGracefulShutdown {
                for await change in link.statusChanges() where change.status != .registering {
                    printLine(change.status)
                    break
                }
            }
        } else {
            printLine(nil)
        }
        try await gracefulShutdown()
    }

    /// - Parameter status: status of the account's link; `nil` on a box with cameras only.
    private func printLine(_ status: LinkStatus?) {
        let line =
            "iotvideod \(ProductVersion.current) is ready: socket \(configuration.socket), "
            + "\(configuration.cameraCount), \(status.map { "link \($0.name)" } ?? "no account")\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
