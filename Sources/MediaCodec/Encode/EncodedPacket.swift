import NIOCore

/// A packet from an encoder.
struct EncodedPacket {
    /// Of sound: in samples, on the input's clock. The first pts is earlier than the first input, by the encoder's
    /// look-ahead.
    var pts: Int64
    var bytes: ByteBuffer
}
