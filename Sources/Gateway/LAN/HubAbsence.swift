import IoTCore
import IoTLink
import NIOCore
import Synchronization
import ThingModel

/// How long a gateway's hub has been away. A link that merely reconnects is not away yet: the hub knows more than the
/// devices on the network.
final class HubAbsence: Sendable {
    private static let patience = TimeAmount.seconds(3)

    private let hub: any HubLink
    /// Since when it is away; `nil` while it is there.
    private let began = Mutex<NIODeadline?>(.now())

    init(_ hub: any HubLink) {
        self.hub = hub
    }

    /// Follows the link until the task is cancelled.
    func run() async {
        for await change in hub.statusChanges() {
            began.withLock { $0 = change.status == .online ? nil : $0 ?? .now() }
        }
    }

    /// Waits a moment for a link that reconnects, at most half of `limit`.
    func isAway(within limit: Duration) async -> Bool {
        guard hub.current.status != .online else { return false }
        let gone = began.withLock { $0 }.map { .now() - $0 } ?? .zero
        let left = min(Duration(Self.patience - gone), limit / 2)
        guard left > .zero else { return true }
        let back = try? await within(left, orThrow: IoTError(.linkUnavailable)) { [hub] in
            for await change in hub.statusChanges() where change.status == .online { return true }
            return false
        }
        return back != true
    }
}
