public import NIOCore

/// One coded picture or one coded block of audio, with its timestamps.
///
/// Video is one access unit of NAL units, each after a 4-byte big-endian length. Parameter sets precede a key frame.
/// AAC is one raw access unit (no ADTS). G.711 is any whole number of samples. Opus is one packet.
public struct MediaFrame: Sendable {
    public var kind: MediaKind

    /// True for a picture from which decoding can begin (IDR, CRA, BLA); always true for audio.
    public var isKeyFrame: Bool

    /// The presentation time: µs on the source's clock.
    public var pts: Int64

    /// The decoding time: µs on the source's clock. Equal to `pts` if frames are not reordered, and if the transport
    /// carries no decoding times (RTP).
    public var dts: Int64

    /// True on the first frame after a break in the clock: a loop's restart, a reconnected source, a jump.
    public var isDiscontinuity: Bool

    public var bytes: ByteBuffer

    public init(
        kind: MediaKind, isKeyFrame: Bool, pts: Int64, dts: Int64, isDiscontinuity: Bool = false, bytes: ByteBuffer
    ) {
        self.kind = kind
        self.isKeyFrame = isKeyFrame
        self.pts = pts
        self.dts = dts
        self.isDiscontinuity = isDiscontinuity
        self.bytes = bytes
    }
}
