import Foundation
import NIOCore

/// Passes a source's events from its thread to the camera's event loop. If 64 events are pending, the thread waits: if
/// the event loop is slow, the source is read more slowly, and no queue grows.
///
/// `@unchecked Sendable`: `condition` guards the count.
final class SourceHandOff: @unchecked Sendable {
    private static let limit = 64

    private let stream: NIOLoopBoundBox<CameraStream>
    private let condition = NSCondition()
    private var underWay = 0

    init(stream: NIOLoopBoundBox<CameraStream>) {
        self.stream = stream
    }

    func take(_ event: CameraSourceEvent) {
        condition.withLock {
            while underWay >= Self.limit { condition.wait() }
            underWay += 1
        }
        stream.eventLoop.execute { [self] in
            stream.value.handle(event)
            condition.withLock {
                underWay -= 1
                condition.signal()
            }
        }
    }
}
