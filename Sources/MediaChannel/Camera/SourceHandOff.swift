import Foundation
import NIOCore

/// Passes a source's events from its thread to the event loop of its rendition. If 64 events are pending, the thread waits: if
/// the event loop is slow, the source is read more slowly, and no queue grows.
///
/// `@unchecked Sendable`: `condition` guards the count.
final class SourceHandOff: @unchecked Sendable {
    private static let limit = 64

    private let eventLoop: any EventLoop
    private let handle: @Sendable (CameraSourceEvent) -> Void
    private let condition = NSCondition()
    private var underWay = 0

    /// - Parameter handle: Called on the event loop.
    init(_ eventLoop: any EventLoop, _ handle: @escaping @Sendable (CameraSourceEvent) -> Void) {
        self.eventLoop = eventLoop
        self.handle = handle
    }

    /// On the event loop, the event is handled at once.
    func take(_ event: CameraSourceEvent) {
        if eventLoop.inEventLoop { return handle(event) }
        condition.withLock {
            while underWay >= Self.limit { condition.wait() }
            underWay += 1
        }
        eventLoop.execute { [self] in
            handle(event)
            condition.withLock {
                underWay -= 1
                condition.signal()
            }
        }
    }
}
