import NIOCore

/// The state that an `RTPReceiver` keeps for one source. A new source starts with a new state.
struct IncomingStream: Sendable {
    /// A packet in sequence order.
    struct Packet: Sendable {
        /// `nil` for an unsupported payload type: the entry only takes the packet's place in the sequence.
        var payload: ByteBuffer?
        var payloadType: UInt8
        var marker: Bool
        var timestamp: Int64
        var arrival: NIODeadline
    }

    let ssrc: UInt32
    var depacketizer: Depacketizer
    var sequence = SequenceUnwrapper<UInt16>()
    var reception: ReceptionStatistics

    /// The next (unwrapped) sequence number for the depacketizer; all lower ones are done.
    var next: Int64
    var highest: Int64
    var waiting = ReorderBuffer<Packet>()
    var missing = MissingPackets()

    /// Sequence numbers given up recently, ascending. They distinguish late packets from duplicates.
    var givenUp: [Int64] = []

    /// Set while the beginning of the first key frame is missing: reordering may have delayed it, or it was lost. Until
    /// this time no packet is depacketized, and `next` is the lowest number seen.
    var searchEnd: NIODeadline?

    init(ssrc: UInt32, first: UInt16, depacketizer: Depacketizer) {
        self.ssrc = ssrc
        self.depacketizer = depacketizer
        let number = sequence.unwrap(first)
        next = number
        highest = number - 1
        reception = ReceptionStatistics(first: number, clock: RTPClock(rate: depacketizer.codec.clockRate))
    }

    mutating func remember(givenUp number: Int64) {
        givenUp.append(number)
        if givenUp.count > 2_048 { givenUp.removeFirst(1_024) }
    }
}
