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
    package func requestKeyFrame(at now: NIODeadline) {}
}

/// Who decides when a source's frames come.
package enum FrameDelivery: Sendable {
    /// They come when the sender sends them: the jitter buffer finds out when each is due.
    case arriving
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
    /// Something failed: the player goes on, unless the error is one that ends it.
    case failed(IoTError)
    /// Nothing more will come.
    case closed(IoTError?)
}

/// A source's tracks.
package struct FrameSourceDescription: Sendable {
    package var video: VideoParameters?
    package var audio: AudioParameters?

    package init(video: VideoParameters?, audio: AudioParameters?) {
        self.video = video
        self.audio = audio
    }
}

/// A whole frame of one of the source's tracks.
package struct SourceFrame: Sendable {
    package var frame: MediaFrame
    package var arrival: NIODeadline
    /// How much later than others a frame may be of which a part has to be sent again.
    package var recoveryTime: TimeAmount

    package init(_ frame: MediaFrame, arrival: NIODeadline, recoveryTime: TimeAmount = .zero) {
        self.frame = frame
        self.arrival = arrival
        self.recoveryTime = recoveryTime
    }
}
