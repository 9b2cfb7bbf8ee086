import IoTCore
import NIOCore

/// Decides when a player's frames are presented: by the jitter buffer, or by the user's rate, as the source delivers.
struct Playout {
    private var arriving: ArrivingPlayout?
    private var paced: PacedPlayout?

    init(
        _ delivery: FrameDelivery, _ source: FrameSourceDescription, options: JitterBufferOptions, now: NIODeadline
    ) {
        switch delivery {
        case .arriving: arriving = ArrivingPlayout(video: source.video, options: options, now: now)
        case .askedFor: paced = PacedPlayout(video: source.video, start: source.start, now: now)
        }
    }

    // MARK: Inputs

    mutating func receive(_ received: SourceFrame, at now: NIODeadline) {
        arriving?.receive(received, at: now)
        paced?.receive(received.frame, generation: received.generation, at: now)
    }

    mutating func expectPictures(_ isExpected: Bool, at now: NIODeadline) {
        arriving?.expectPictures(isExpected, at: now)
    }

    mutating func frameLost(_ kind: MediaKind, at now: NIODeadline) {
        arriving?.frameLost(kind, at: now)
        paced?.frameLost(kind, at: now)
    }

    mutating func clock(_ kind: MediaKind, pts: Int64, offset: Int64, at now: NIODeadline) {
        arriving?.clock(kind, pts: pts, offset: offset, at: now)
    }

    mutating func complete(generation: Int, at now: NIODeadline) {
        paced?.complete(generation: generation, at: now)
    }

    mutating func handleTimeout(at now: NIODeadline) {
        arriving?.handleTimeout(at: now)
        paced?.handleTimeout(at: now)
    }

    /// No more frames will come: releases those that have arrived. Frames requested ahead of the position are not
    /// released, because they are not due yet.
    mutating func flush(at now: NIODeadline) {
        arriving?.flush(at: now)
    }

    mutating func pause(at now: NIODeadline) { paced?.pause(at: now) }

    mutating func resume(at now: NIODeadline) { paced?.resume(at: now) }

    mutating func setRate(_ rate: Double, at now: NIODeadline) { paced?.setRate(rate, at: now) }

    mutating func seek(to pts: Int64, generation: Int, at now: NIODeadline) {
        paced?.seek(to: pts, generation: generation, at: now)
    }

    // MARK: Outputs

    mutating func poll() -> PlayoutOutput? {
        arriving?.poll() ?? paced?.poll()
    }

    /// The parameters from the newest key frame.
    var video: VideoParameters? { arriving?.video }

    var report: JitterBufferReport? { arriving?.jitterBuffer.report }

    /// A frame's time on the clock that both tracks share, µs; `nil` while that is unknown.
    func senderTime(_ kind: MediaKind, pts: Int64) -> Int64? {
        paced == nil ? arriving?.senderTime(kind, pts: pts) : pts
    }

    func presentTime(ofReleasedPicture pts: Int64) -> NIODeadline? {
        arriving?.jitterBuffer.presentTime(ofReleasedPicture: pts)
    }

    /// The pts that is presented now, if the source is played at the user's rate.
    func position(at now: NIODeadline) -> Int64? { paced?.position(at: now) }
}
