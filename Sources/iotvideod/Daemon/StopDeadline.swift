import Dispatch
import Foundation
import Glibc
import ServiceLifecycle

/// Kills the process if it does not stop in time. A regular stop takes less than 4 s, whatever cameras, hubs and
/// clients do. Acknowledged data is on the disk in both cases.
struct StopDeadline: Service {
    private static let patience = 4.5

    /// Called when the stop begins.
    let firstAct: @Sendable () -> Void
    /// Called just before the process is killed.
    let lastAct: @Sendable () -> Void

    func run() async throws {
        try await gracefulShutdown()
        firstAct()
        // A separate queue, because a blocked thread elsewhere must not delay the deadline. It ends with the process.
        DispatchQueue(label: "stop-deadline").asyncAfter(deadline: .now() + Self.patience) { [lastAct] in
            let text = "error: the daemon has not stopped within \(Self.patience) s and is killed\n"
            FileHandle.standardError.write(Data(text.utf8))
            lastAct()
            _exit(1)
        }
    }
}
