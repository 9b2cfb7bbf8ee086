import Foundation
import IoTCore
import Logging
import NetConfig

/// A camera's provisioning mode, for the test of the packaged unit:
/// `directory-probe provision PORT nmcli PROGRAM` or `directory-probe provision PORT supplicant SOCKET`.
///
/// Reads the proof of possession from a line of standard input. Prints `ready`, and the result when the mode ends.
enum ProvisionProbe {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 3, let port = Int(arguments[0]), let proof = readLine() else {
            throw IoTError(.invalidParameter, "usage: directory-probe provision PORT nmcli PROGRAM | supplicant SOCKET")
        }
        let applier: any WiFiApplier =
            arguments[1] == "nmcli"
            ? NetworkManagerApplier(program: arguments[2]) : SupplicantApplier(socket: arguments[2])
        let server = ProvisioningServer(
            ProvisioningServer.Configuration(
                host: "127.0.0.1", port: port, credential: .possession(proof),
                identity: DeviceIdentity(id: "probe", keyFingerprint: [])),
            applier: applier, binder: nil, logger: Logger(label: "probe"))
        let end = try await server.run { _ in say("ready") }
        say("\(end)")
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
