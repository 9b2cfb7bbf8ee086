import NIOCore

/// A packet from an encoder.
struct EncodedPacket {
    /// On the input's clock: in samples for audio, in pictures for video. An audio encoder's first pts is earlier than
    /// its first input, by the encoder's look-ahead.
    var pts: Int64
    var bytes: ByteBuffer
}
