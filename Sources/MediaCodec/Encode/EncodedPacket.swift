import NIOCore

/// What an encoder of sound gave for a frame.
struct EncodedPacket {
    /// In samples, on the clock of what was put in; below the first put in for the encoder's look-ahead.
    var pts: Int64
    var bytes: ByteBuffer
}
