package import IoTCore
import MediaCodec
package import NIOCore

/// Plays frames that arrive when their sender sends them: they go through the jitter buffer and are released when they
/// are due. It owns no clock, timer or decoder.
package struct ArrivingPlayout {
    package private(set) var video: VideoParameters?
    private var keyFrameParameters = KeyFrameParameters()
    package private(set) var jitterBuffer: JitterBuffer
    private var clocks: [MediaKind: SenderClock] = [:]

    package init(video: VideoParameters?, options: JitterBufferOptions = JitterBufferOptions(), now: NIODeadline) {
        self.video = video
        jitterBuffer = JitterBuffer(options: options, now: now)
        if let video { jitterBuffer.setVideoParameters(video) }
    }

    package mutating func receive(_ received: SourceFrame, at now: NIODeadline) {
        if received.frame.kind == .video, received.frame.isKeyFrame { videoMayHaveChanged(received.frame) }
        jitterBuffer.receive(
            received.frame, arrival: received.arrival, at: now, recoveryTime: received.recoveryTime)
    }

    package mutating func expectPictures(_ isExpected: Bool, at now: NIODeadline) {
        jitterBuffer.expectPictures(isExpected, at: now)
    }

    package mutating func frameLost(_ kind: MediaKind, at now: NIODeadline) {
        jitterBuffer.frameLost(kind, at: now)
    }

    /// The track's time `pts` was `pts + offset` on the sender's wall clock, µs.
    package mutating func clock(_ kind: MediaKind, pts: Int64, offset: Int64, at now: NIODeadline) {
        // A sender may report any time; the jitter buffer's limit prevents overflow.
        guard pts.magnitude < playoutTimeLimit.magnitude, offset.magnitude < playoutTimeLimit.magnitude else { return }
        clocks[kind, default: SenderClock()].report(pts: pts, offset: offset)
        jitterBuffer.senderReport(kind, senderMicroseconds: offset, trackPts: 0, at: now)
    }

    package mutating func handleTimeout(at now: NIODeadline) {
        jitterBuffer.handleTimeout(at: now)
    }

    /// No more frames will come: releases what is held.
    package mutating func flush(at now: NIODeadline) {
        jitterBuffer.flush(at: now)
    }

    /// Drain until `.timeout` or nil.
    package mutating func poll() -> PlayoutOutput? {
        jitterBuffer.poll()
    }

    /// A frame's time on the clock that both tracks share, µs; `nil` before the track's first sender report.
    package func senderTime(_ kind: MediaKind, pts: Int64) -> Int64? {
        clocks[kind]?.senderTime(pts: pts)
    }

    private mutating func videoMayHaveChanged(_ keyFrame: MediaFrame) {
        guard let known = video, let found = keyFrameParameters.changed(known.codec, in: keyFrame), found != known
        else { return }
        video = found
        jitterBuffer.setVideoParameters(found)
    }
}
