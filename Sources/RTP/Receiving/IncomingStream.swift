import NIOCore

/// What an `RTPReceiver` keeps of one source; a new source begins anew.
struct IncomingStream: Sendable {
    /// A packet in sequence order.
    struct Packet: Sendable {
        /// `nil` for a payload type that is not ours: it only fills its place.
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

    /// The sequence number (unwrapped) that the depacketiser gets next; all below are done.
    var next: Int64
    var highest: Int64
    var waiting = ReorderBuffer<Packet>()
    var missing = MissingPackets()

    /// Given up lately, ascending: told apart from duplicates when they come after all.
    var givenUp: [Int64] = []

    /// The first packets begin no key frame: its beginning may have been overtaken or lost. Until then nothing is
    /// handed on, and `next` is the lowest number seen.
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
