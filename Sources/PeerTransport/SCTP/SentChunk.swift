import NIOCore

/// One DATA chunk that has a number and is not acknowledged in sequence yet.
struct SentChunk {
    let tsn: Int64
    let message: Int
    let stream: UInt16
    let sequence: UInt16
    let payloadProtocol: UInt32
    let flags: SCTPDataChunk.Flags
    let reliability: SCTPReliability
    var payload: ByteBuffer

    var transmissions = 0
    var sentAt: NIODeadline

    /// True when the last SACK has it in a gap block.
    var isAcknowledged = false
    /// True when it is abandoned; FORWARD TSN skips it.
    var isAbandoned = false
    /// True when it is sent, and neither acknowledged nor lost.
    var isInFlight = false
    /// True when it must be sent again.
    var isLost = false
    /// The number of SACKs that report it as missing.
    var misses = 0
    /// The next unused number when the chunk was last sent again. Only an acknowledgement of that number or a later one
    /// shows whether the chunk is lost again.
    var barrier = Int64.min

    var wireChunk: SCTPDataChunk {
        SCTPDataChunk(
            flags: flags, tsn: UInt32(truncatingIfNeeded: tsn), stream: stream, sequence: sequence,
            payloadProtocol: payloadProtocol, payload: payload)
    }
}
