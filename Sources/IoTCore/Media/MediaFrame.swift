public import NIOCore

/// One coded picture, or one coded piece of sound, with its times.
///
/// Video is one access unit of NAL units, each behind a 4-byte big-endian length, with the parameter sets before
/// a key frame. AAC is one raw access unit (no ADTS). G.711 is any whole number of samples. Opus is one packet.
public struct MediaFrame: Sendable {
    public var kind: MediaKind

    /// True for a picture from which decoding can begin (IDR, CRA, BLA); always true for sound.
    public var isKeyFrame: Bool

    /// When it is to be shown or heard: µs on the source's clock.
    public var pts: Int64

    /// When it is to be decoded: µs on the source's clock; equal to `pts` where frames are not reordered, and
    /// where the way here carries no decoding times (RTP).
    public var dts: Int64

    /// True on the first frame behind a break in the clock: a loop's restart, a reconnected source, a jump.
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
