import IoTCore
import IoTLink
import NIOCore

/// One viewer of a camera: a gateway (`GatewayViewer`), a browser (`BrowserViewer`) or a player that reads plain RTP
/// (`StreamReader`). Confined to the camera's event loop.
protocol CameraViewer: AnyObject, SendableMetatype {
    /// Unique among the camera's viewers.
    var session: String { get }

    /// The account that is charged for the viewer's place.
    var account: String { get }
    var isOwner: Bool { get }

    /// Whether it gets the camera's sound as Opus.
    var hearsOpus: Bool { get }

    /// What it gets now.
    var rendition: Rendition { get }

    /// Whether it gets the rendition, or waits for it.
    func uses(_ rendition: Rendition) -> Bool

    // MARK: Called by the camera's stream

    /// A key frame came in one of the camera's renditions.
    func keyFrameCame(in rendition: Rendition, at now: NIODeadline)

    /// Restarts at the newest key frame.
    func restart(at now: NIODeadline)

    /// New packets are in a rendition's tracks; with `opusOnly`, only in its Opus track.
    func packetsCame(in rendition: Rendition, opusOnly: Bool, at now: NIODeadline)

    /// Sends what is due.
    func pump(at now: NIODeadline)

    /// Stops sending; `restart` continues.
    func pause()

    /// The mapping of the source's clock to the wall clock changed; both tracks' sender reports depend on it.
    func clockChanged()

    /// The source's clock jumped: `pts` came where a continuous clock would have given `expected`.
    func clockJumped(to pts: Int64, expected: Int64)

    /// The camera's pictures turned out not to come in presentation order.
    func picturesReordered()

    /// Ends the viewer from the camera's side.
    func end(_ reason: IoTError)

    /// The viewer itself left: it is not notified.
    func hungUp()
}

extension CameraViewer {
    func packetsCame(in rendition: Rendition, opusOnly: Bool, at now: NIODeadline) {
        if self.rendition === rendition, !opusOnly || hearsOpus { pump(at: now) }
    }
}

/// A viewer with a call and a peer connection.
protocol CalledViewer: CameraViewer {
    var connection: ViewerConnection { get }

    // MARK: Called by its connection

    /// One of our candidates was found, as `candidate:…`; empty text marks the end of the candidates.
    func found(candidate: String)

    /// The viewer reports that it cannot decode without a key frame.
    func keyFrameRequested(mid: String, at now: NIODeadline)

    /// The viewer is missing these packets.
    func retransmissionRequested(mid: String, _ sequences: [Int64])

    /// Whether it shows pictures that do not come in presentation order.
    var canReorder: Bool { get }

    /// Whether the rendition's sound has the format that the call has.
    func canHear(_ rendition: Rendition) -> Bool

    /// The call gets another rendition than `last`. Returns whether that rendition's sound has the right format.
    func changed(from last: Rendition) -> Bool

    /// The feed has started at another place, of the same rendition or another.
    func restarted(at now: NIODeadline)

    /// The connection has ended; called once.
    func ended()
}

extension CalledViewer {
    var session: String { connection.session }
    var account: String { connection.grant.user.description }
    var isOwner: Bool { connection.grant.isOwner }
    var rendition: Rendition { connection.run.rendition }

    func uses(_ rendition: Rendition) -> Bool {
        self.rendition === rendition || connection.pending?.choice.rendition === rendition
    }

    func keyFrameCame(in rendition: Rendition, at now: NIODeadline) {
        connection.keyFrameCame(in: rendition, at: now)
    }

    func perform(_ command: CallCommand, at now: NIODeadline) {
        connection.wantsMedia = command == .play
        switch command {
        case .play: restart(at: now)
        case .stop: pause()
        }
    }

    func pause() { connection.pause() }
    func end(_ reason: IoTError) { connection.finish(reason) }
    func hungUp() { connection.finish(nil) }
}
