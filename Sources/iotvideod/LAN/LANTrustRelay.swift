import LANLink
import Synchronization

/// Passes what a session's hub says to the link that is made around the session.
final class LANTrustRelay: Sendable {
    private struct Target {
        weak var link: LANDeviceLink?
    }

    private let target = Mutex(Target())

    var link: LANDeviceLink? { target.withLock { $0.link } }

    func set(_ link: LANDeviceLink) { target.withLock { $0.link = link } }
}
