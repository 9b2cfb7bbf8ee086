package import IoTCore
package import NIOCore

/// Runs an `RTSPClient` with NIO's sockets, on one event loop.
package final class RTSPClientSession: Sendable {
    package enum Event: Sendable {
        case opened(video: VideoParameters?, audio: AudioParameters?, unsupported: [String])
        case frame(MediaFrame)
        /// The last event.
        case failed(IoTError)
    }

    private let eventLoop: any EventLoop
    private let driver: NIOLoopBoundBox<RTSPClientDriver>

    /// - Parameter onEvent: called on the event loop; must not block.
    package init(
        _ configuration: RTSPClientConfiguration, eventLoop: any EventLoop, onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.eventLoop = eventLoop
        driver = NIOLoopBoundBox.makeBoxSendingValue(
            RTSPClientDriver(configuration, eventLoop: eventLoop, onEvent: onEvent), eventLoop: eventLoop)
    }

    package func start() {
        eventLoop.execute { [driver] in driver.value.start() }
    }

    /// Ends the session: the camera is told, and the sockets are closed. No event follows.
    package func stop() {
        eventLoop.execute { [driver] in driver.value.stop() }
    }

    /// Stops or resumes reading. While nothing is read, the camera's packets wait in the system's buffers, or are lost.
    package func setReading(_ isReading: Bool) {
        eventLoop.execute { [driver] in driver.value.setReading(isReading) }
    }
}
