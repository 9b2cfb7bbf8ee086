import Dispatch
import Foundation
import Glibc
import ServiceLifecycle

/// Ends the process by force when it was told to stop and does not. In order it takes less than four seconds, whatever
/// cameras, hubs and clients do; what has been acknowledged is on the disk in either case.
struct StopDeadline: Service {
    private static let patience = 4.5

    /// Done at once.
    let firstAct: @Sendable () -> Void
    /// Done just before the end by force.
    let lastAct: @Sendable () -> Void

    func run() async throws {
        try await gracefulShutdown()
        firstAct()
        // A queue of its own: it must not wait for what holds the others up. It ends with the process.
        DispatchQueue(label: "stop-deadline").asyncAfter(deadline: .now() + Self.patience) { [lastAct] in
            let text = "error: the daemon was told to stop \(Self.patience) s ago and has not ended in order\n"
            FileHandle.standardError.write(Data(text.utf8))
            lastAct()
            _exit(1)
        }
    }
}
