public import NIOCore

/// One packet of a track, created once for all viewers: each viewer's `RTPSender` adds its own header.
public struct MediaPacket: Sendable {
    /// The RTP payload alone. Usually a slice that shares one buffer with the rest of its frame.
    public var payload: ByteBuffer

    /// True on the last packet of a picture or of an AAC access unit.
    public var marker: Bool

    /// The frame's `pts` in RTP ticks; wraps at 32 bits and has no random offset.
    public var timestamp: UInt32

    /// Counts this track's packets, from 0.
    public var sequence: Int64

    /// True on the first packet of a key frame; always false for audio.
    public var isKeyFrameStart: Bool

    /// The time of `timestamp` in µs on the source's clock.
    public var pts: Int64

    public init(
        payload: ByteBuffer, marker: Bool, timestamp: UInt32, sequence: Int64, isKeyFrameStart: Bool, pts: Int64
    ) {
        self.payload = payload
        self.marker = marker
        self.timestamp = timestamp
        self.sequence = sequence
        self.isKeyFrameStart = isKeyFrameStart
        self.pts = pts
    }
}
