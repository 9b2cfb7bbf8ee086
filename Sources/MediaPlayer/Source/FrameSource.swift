package import IoTCore
package import NIOCore

/// Provides one player with frames: from a call, a file or a recording.
///
/// Confined to the player's event loop. It owns no timer: the player polls it after `onReady` was called, and when
/// `nextTimeout` has been reached.
package protocol FrameSource: AnyObject {
    var delivery: FrameDelivery { get }

    /// The source calls this on the player's event loop when `poll(at:)` has new outputs, but never during a call from
    /// the player.
    var onReady: ((NIODeadline) -> Void)? { get set }

    /// When `poll(at:)` has outputs without a call of `onReady`; `nil` for never.
    var nextTimeout: NIODeadline? { get }

    /// Packets counted so far, if the frames come in packets.
    var packets: [MediaKind: PacketCounters] { get }

    /// The newest measurement, if the source can measure it.
    var roundTripTime: TimeAmount? { get }

    /// How the media come over the network, once the source is open; `nil` if they do not.
    var route: SourceRoute? { get }

    /// Determines the tracks; `.opened` reports them.
    func open(at now: NIODeadline)

    /// Frames are wanted from now on.
    func start(at now: NIODeadline)

    /// Drain until `nil`.
    func poll(at now: NIODeadline) -> FrameSourceOutput?

    /// Frames are wanted up to this pts, µs. Sources that do not deliver on request ignore it.
    func want(through pts: Int64, at now: NIODeadline)

    /// Frames are wanted from the key frame before this pts on, µs. They carry this generation; frames of others are no
    /// longer wanted, and earlier calls of `want` no longer apply.
    func seek(to pts: Int64, generation: Int, at now: NIODeadline)

    /// Frames are played at this rate: above `PacedPlayout.everyFrameRate` only key frames, without sound.
    func setRate(_ rate: Double, at now: NIODeadline)

    /// The following frames cannot be decoded before the next key frame.
    func requestKeyFrame(at now: NIODeadline)

    /// The player's last call.
    func close(_ reason: IoTError?, at now: NIODeadline)
}

extension FrameSource {
    package var nextTimeout: NIODeadline? { nil }
    package var packets: [MediaKind: PacketCounters] { [:] }
    package var roundTripTime: TimeAmount? { nil }
    package var route: SourceRoute? { nil }
    package func open(at now: NIODeadline) {}
    package func start(at now: NIODeadline) {}
    package func want(through pts: Int64, at now: NIODeadline) {}
    package func seek(to pts: Int64, generation: Int, at now: NIODeadline) {}
    package func setRate(_ rate: Double, at now: NIODeadline) {}
    package func requestKeyFrame(at now: NIODeadline) {}
}

/// What decides when a source's frames come.
package enum FrameDelivery: Sendable {
    /// They come when the sender sends them: the jitter buffer determines when each is due.
    case arriving
    /// They come on request: the user's rate, pauses and seeks determine when each is due. They carry decoding times,
    /// and both tracks share one clock.
    case askedFor
}

/// Outputs of a source.
package enum FrameSourceOutput: Sendable {
    /// The source's connection has got so far.
    case progress(ConnectionSubstate)
    /// The tracks are known.
    case opened(FrameSourceDescription)
    case frame(SourceFrame)
    /// A frame of this kind will never be complete.
    case lost(MediaKind)
    /// The pictures must be turned so far, from the following ones on.
    case turned(PictureRotation)
    /// The track's time `pts` was `pts + offset` on the sender's wall clock, µs.
    case clock(MediaKind, pts: Int64, offset: Int64)
    /// The source has no more frames after those of this generation.
    case complete(generation: Int)
    /// Something failed: the player continues, unless the error stops it.
    case failed(IoTError)
    /// No more outputs will come.
    case closed(IoTError?)
}

/// A source's tracks.
package struct FrameSourceDescription: Sendable {
    package var video: VideoParameters?
    package var audio: AudioParameters?
    /// The first frame's pts, µs, if the source delivers on request.
    package var start: Int64
    /// µs; `nil` if there is no end.
    package var duration: Int64?

    package init(video: VideoParameters?, audio: AudioParameters?, start: Int64 = 0, duration: Int64? = nil) {
        self.video = video
        self.audio = audio
        self.start = start
        self.duration = duration
    }
}

/// A whole frame of one of the source's tracks.
package struct SourceFrame: Sendable {
    package var frame: MediaFrame
    package var arrival: NIODeadline
    /// The additional delay of a frame with a retransmitted part.
    package var recoveryTime: TimeAmount
    /// The generation of the seek that the frame belongs to; 0 before the first seek.
    package var generation: Int

    package init(
        _ frame: MediaFrame, arrival: NIODeadline, recoveryTime: TimeAmount = .zero, generation: Int = 0
    ) {
        self.frame = frame
        self.arrival = arrival
        self.recoveryTime = recoveryTime
        self.generation = generation
    }
}
