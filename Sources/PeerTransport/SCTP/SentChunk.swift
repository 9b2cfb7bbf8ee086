import NIOCore

/// One DATA chunk that has a number and is not yet acknowledged in sequence.
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

    /// In a gap block of the last SACK.
    var isAcknowledged = false
    /// Given up; FORWARD TSN passes over it.
    var isAbandoned = false
    /// Sent, and neither acknowledged nor taken for lost.
    var isInFlight = false
    /// To be sent again.
    var isLost = false
    /// SACKs that passed over it.
    var misses = 0
    /// The first number that had not been used when it was last sent again: only what was sent after that tells
    /// anew whether it is lost.
    var barrier = Int64.min

    var wireChunk: SCTPDataChunk {
        SCTPDataChunk(
            flags: flags, tsn: UInt32(truncatingIfNeeded: tsn), stream: stream, sequence: sequence,
            payloadProtocol: payloadProtocol, payload: payload)
    }
}
