import Foundation
import NIOCore

/// Passes a source's events from its thread to the event loop of its rendition, in order. If 64 events are pending, the
/// thread waits: if the event loop is slow, the source is read more slowly, and no queue grows.
///
/// `@unchecked Sendable`: `condition` guards all mutable state.
final class SourceHandOff: @unchecked Sendable {
    private static let limit = 64

    private let eventLoop: any EventLoop
    private let handle: @Sendable (CameraSourceEvent) -> Void
    private let condition = NSCondition()
    private var underWay = 0
    private var hasEnded = false
    /// When the last event is due; `nil` before the first event with a time.
    private var lastDue: NIODeadline?

    /// - Parameter handle: Called on the event loop.
    init(_ eventLoop: any EventLoop, _ handle: @escaping @Sendable (CameraSourceEvent) -> Void) {
        self.eventLoop = eventLoop
        self.handle = handle
    }

    /// - Parameter due: when it is handled; `nil` for as soon as those before it are.
    func take(_ event: CameraSourceEvent, due: NIODeadline?) {
        let time: NIODeadline? = condition.withLock {
            while underWay >= Self.limit { condition.wait() }
            underWay += 1
            guard due != nil || lastDue != nil else { return nil }
            // Events with the same time are handled in order.
            let time = max(due ?? eventLoop.now, lastDue ?? eventLoop.now)
            lastDue = time
            return time
        }
        let work = { @Sendable [self] in
            if !condition.withLock({ hasEnded }) { handle(event) }
            condition.withLock {
                underWay -= 1
                condition.signal()
            }
        }
        if let time { eventLoop.scheduleTask(deadline: time, work) } else { eventLoop.execute(work) }
    }

    /// What is pending is not handled any more.
    func end() { condition.withLock { hasEnded = true } }
}
