import IoTCore
import IoTLink
import NIOCore

/// One viewer of a camera: a gateway's (`GatewayViewer`) or a browser (`BrowserViewer`). Confined to the camera's event
/// loop.
protocol CameraViewer: AnyObject, SendableMetatype {
    var connection: ViewerConnection { get }

    /// Whether it gets the camera's sound as Opus.
    var hearsOpus: Bool { get }

    // MARK: From the camera's stream

    /// Begins anew at the newest key frame.
    func restart(at now: NIODeadline)

    /// Sends what is due.
    func pump(at now: NIODeadline)

    /// Both tracks' sender reports tie to the source's one clock.
    func clockChanged()

    /// The source's clock jumped: `pts` comes where `expected` would have come.
    func clockJumped(to pts: Int64, expected: Int64)

    /// The camera's pictures turned out to come in another order than they are shown in.
    func picturesReordered()

    // MARK: From its connection

    /// A candidate of ours, as `candidate:…`; empty text ends them.
    func found(candidate: String)

    /// The viewer says that it cannot decode without a key frame.
    func keyFrameRequested(mid: String, at now: NIODeadline)

    /// The viewer lacks these packets.
    func retransmissionRequested(mid: String, _ sequences: [Int64])

    /// The connection is gone; it ends once.
    func ended()
}

extension CameraViewer {
    func perform(_ command: CallCommand, at now: NIODeadline) {
        connection.wantsMedia = command == .play
        switch command {
        case .play: restart(at: now)
        case .stop: pause()
        }
    }

    func pause() { connection.pause() }

    /// Ends the viewer from the camera's side.
    func end(_ reason: IoTError) { connection.finish(reason) }

    /// The viewer itself left: it need not be told.
    func hungUp() { connection.finish(nil) }
}
