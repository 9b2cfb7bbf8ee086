import NIOCore

/// One packet that an assembler receives.
struct AssemblyPacket {
    var payload: ByteBuffer
    var marker: Bool

    /// Unwrapped, in ticks.
    var timestamp: Int64
    var arrival: NIODeadline
}

/// An assembler's output.
enum AssemblyOutput {
    case frame(AssembledFrame)
    case damaged
}

/// A whole frame with its time in RTP ticks.
struct AssembledFrame {
    var bytes: ByteBuffer
    var isKeyFrame = true
    var timestamp: Int64
    var firstArrival: NIODeadline
    var lastArrival: NIODeadline

    init(_ packet: AssemblyPacket, bytes: ByteBuffer) {
        self.bytes = bytes
        timestamp = packet.timestamp
        firstArrival = packet.arrival
        lastArrival = packet.arrival
    }

    /// A retransmitted packet may arrive after those that follow it.
    mutating func note(arrival: NIODeadline) {
        firstArrival = min(firstArrival, arrival)
        lastArrival = max(lastArrival, arrival)
    }
}
