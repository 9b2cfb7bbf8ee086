package import IoTCore
package import NIOCore
import NIOPosix

/// Gives a camera's frames to a thread that blocks until they arrive, or to a function on the event loop.
///
/// The queue between the event loop and the thread is bounded. When it is full, nothing is read from the sockets until
/// half of it is free.
package final class RTSPInput: Sendable {
    /// The tracks' parameters. The size of the pictures is known only after the first key frame.
    package struct Tracks: Sendable {
        package var video: VideoParameters?
        package var audio: CameraSound?
        package var unsupported: [String]
    }

    private let session: RTSPClientSession
    private let eventLoop: any EventLoop
    private let queue: FrameQueue

    /// - Parameter eventLoop: The loop of the sockets; `nil` chooses one.
    package init(_ configuration: RTSPClientConfiguration, eventLoop: (any EventLoop)?) {
        let queue = FrameQueue()
        self.queue = queue
        let eventLoop = eventLoop ?? MultiThreadedEventLoopGroup.singleton.any()
        self.eventLoop = eventLoop
        session = RTSPClientSession(configuration, eventLoop: eventLoop) {
            queue.wantsFrames
        } onEvent: { event in
            queue.take(event)
        }
        queue.onChange = { [weak session] in session?.updateReading() }
        session.start()
    }

    deinit { session.stop() }

    /// Waits until the tracks are known.
    package func open() throws(IoTError) -> Tracks { try queue.waitForTracks() }

    /// Waits for the next frame.
    package func readFrame() throws(IoTError) -> MediaFrame { try queue.waitForFrame() }

    /// Passes each frame to `receiver` on the event loop, without a thread in between, and waits until the camera fails.
    /// After that, no frame follows; but the last call may still run if another thread has called `cancel`.
    package func deliver(to receiver: @escaping @Sendable (MediaFrame) -> Void) throws(IoTError) -> Never {
        eventLoop.execute { [queue] in queue.deliver(to: receiver) }
        throw queue.waitForFailure()
    }

    /// Makes current and later calls fail with `stopping`.
    package func cancel() {
        queue.take(.failed(IoTError(.stopping, "reading the camera was cancelled")))
        session.stop()
    }
}
