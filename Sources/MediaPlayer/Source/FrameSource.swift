package import IoTCore
package import NIOCore

/// Feeds one player with frames: a call, a file, a recording.
///
/// Confined to the player's event loop. It owns no timer: the player polls it after `onReady` was called, and when
/// `nextTimeout` has come.
package protocol FrameSource: AnyObject {
    var delivery: FrameDelivery { get }

    /// The source calls this on the player's event loop when `poll(at:)` has something new, but never from within a
    /// call of the player's.
    var onReady: ((NIODeadline) -> Void)? { get set }

    /// When `poll(at:)` has something without `onReady`; `nil` for never.
    var nextTimeout: NIODeadline? { get }

    /// Packets counted so far, where the frames come in packets.
    var packets: [MediaKind: PacketCounters] { get }

    /// From the newest measurement, where there is a way to measure.
    var roundTripTime: TimeAmount? { get }

    /// Learn what the tracks are; `.opened` says so.
    func open(at now: NIODeadline)

    /// Frames are wanted from now on.
    func start(at now: NIODeadline)

    /// Drain until `nil`.
    func poll(at now: NIODeadline) -> FrameSourceOutput?

    /// Frames are wanted up to this pts, µs; a source that is not asked ignores it.
    func want(through pts: Int64, at now: NIODeadline)

    /// Frames are wanted from the key frame before this pts on, µs; they carry this generation, and others are not wanted
    /// any more. What was wanted before is forgotten.
    func seek(to pts: Int64, generation: Int, at now: NIODeadline)

    /// Frames are played at this rate: above `PacedPlayout.everyFrameRate` key frames alone, without sound.
    func setRate(_ rate: Double, at now: NIODeadline)

    /// What follows cannot be decoded before the next key frame.
    func requestKeyFrame(at now: NIODeadline)

    /// The player's last call.
    func close(_ reason: IoTError?, at now: NIODeadline)
}

extension FrameSource {
    package var nextTimeout: NIODeadline? { nil }
    package var packets: [MediaKind: PacketCounters] { [:] }
    package var roundTripTime: TimeAmount? { nil }
    package func open(at now: NIODeadline) {}
    package func start(at now: NIODeadline) {}
    package func want(through pts: Int64, at now: NIODeadline) {}
    package func seek(to pts: Int64, generation: Int, at now: NIODeadline) {}
    package func setRate(_ rate: Double, at now: NIODeadline) {}
    package func requestKeyFrame(at now: NIODeadline) {}
}

/// Who decides when a source's frames come.
package enum FrameDelivery: Sendable {
    /// They come when the sender sends them: the jitter buffer finds out when each is due.
    case arriving
    /// They come when they are asked for: the user's rate, pauses and seeks say when each is due. They carry decoding
    /// times, and both tracks share one clock.
    case askedFor
}

/// What a source gives to its player.
package enum FrameSourceOutput: Sendable {
    /// The tracks are known.
    case opened(FrameSourceDescription)
    case frame(SourceFrame)
    /// A frame of this kind will never be complete.
    case lost(MediaKind)
    /// The track's time `pts` was `pts + offset` on the sender's wall clock, µs.
    case clock(MediaKind, pts: Int64, offset: Int64)
    /// The source has no more frames than those that it gave since the seek of this generation.
    case complete(generation: Int)
    /// Something failed: the player goes on, unless the error is one that ends it.
    case failed(IoTError)
    /// Nothing more will come.
    case closed(IoTError?)
}

/// A source's tracks.
package struct FrameSourceDescription: Sendable {
    package var video: VideoParameters?
    package var audio: AudioParameters?
    /// The first frame's pts, µs, where the source is asked for its frames.
    package var start: Int64
    /// µs; `nil` without an end.
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
    /// How much later than others a frame may be of which a part has to be sent again.
    package var recoveryTime: TimeAmount
    /// Of the seek that the frame answers; 0 before the first one.
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
