package import IoTCore
package import NIOCore

/// Runs an `RTSPClient` with NIO's sockets, on one event loop.
package final class RTSPClientSession: Sendable {
    package enum Event: Sendable {
        case opened(video: VideoParameters?, audio: CameraSound?, unsupported: [String])
        case frame(MediaFrame)
        /// The camera accepts sound, with `send(sound:)`.
        case backChannelOpened(BackChannelFormat, BackChannelProfile)
        /// Always the last event.
        case failed(IoTError)
    }

    private let eventLoop: any EventLoop
    private let driver: NIOLoopBoundBox<RTSPClientDriver>

    /// - Parameters:
    ///   - wantsFrames: Whether to read. Call `updateReading` after its result has changed. Called on the event loop.
    ///   - onEvent: Called on the event loop; must not block.
    package init(
        _ configuration: RTSPClientConfiguration, eventLoop: any EventLoop,
        wantsFrames: @escaping @Sendable () -> Bool = { true }, onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.eventLoop = eventLoop
        driver = NIOLoopBoundBox.makeBoxSendingValue(
            RTSPClientDriver(configuration, eventLoop: eventLoop, wantsFrames: wantsFrames, onEvent: onEvent),
            eventLoop: eventLoop)
    }

    package func start() {
        eventLoop.execute { [driver] in driver.value.start() }
    }

    /// Sends one packet of sound to the camera, after `backChannelOpened`.
    package func send(sound: ByteBuffer, sampleCount: Int) {
        eventLoop.execute { [driver] in driver.value.send(sound: sound, sampleCount: sampleCount) }
    }

    /// Ends the session: sends TEARDOWN and closes the sockets. No event follows.
    package func stop() {
        eventLoop.execute { [driver] in driver.value.stop() }
    }

    /// Stops or resumes reading: on the event loop at once, otherwise soon. While reading is stopped, the camera's packets
    /// wait in the kernel, or are lost.
    package func updateReading() {
        if eventLoop.inEventLoop {
            driver.value.updateReading()
        } else {
            eventLoop.execute { [driver] in driver.value.updateReading() }
        }
    }
}
