import NIOCore
import RTP

/// What a packet with a number of the transport's carried.
struct SentContent: Sendable, Hashable {
    /// The track's place in the connection.
    var track: UInt8
    var isRepair: Bool

    /// The media's sequence number on the wire, of a repair that of the packet which it repairs.
    var number: UInt16
}

/// One packet that went out with a number of the transport's, and what became of it.
struct PacketResult: Sendable, Hashable {
    var number: Int64
    var sent: NIODeadline

    /// The datagram without the headers of UDP and IP.
    var byteCount: Int

    /// µs on the receiver's clock; `nil` for a packet that is taken for lost.
    var arrival: Int64?
    var content: SentContent
}

/// The packets that feedback has yet to tell of.
struct SentPackets: Sendable {
    private struct Entry: Sendable {
        var sent: NIODeadline
        var content: SentContent
        var byteCount: UInt16
        var isAcknowledged = false

        /// One message has called it missing: the next one decides, as it may only be late.
        var isSuspected = false
    }

    private var entries = CircularBuffer<Entry>()

    /// The number of the first entry.
    private var first: Int64 = 1
    private var unwrapper = SequenceUnwrapper<UInt16>()
    private var references = SequenceUnwrapper<UInt32>()

    /// Numbers that one message has called missing.
    private var suspects: [Int64] = []

    /// Bytes that were sent and not told of.
    private(set) var bytesInFlight = 0

    private static let maximumAge = TimeAmount.seconds(5)
    private static let maximumCount = 16_384

    init() {}

    /// The transport-wide number of the next packet.
    var nextNumber: UInt16 { UInt16(truncatingIfNeeded: first + Int64(entries.count)) }

    mutating func note(byteCount: Int, content: SentContent, at now: NIODeadline) {
        while let oldest = entries.first, now - oldest.sent > Self.maximumAge || entries.count >= Self.maximumCount {
            removeFirst()
        }
        entries.append(Entry(sent: now, content: content, byteCount: UInt16(clamping: byteCount)))
        bytesInFlight += byteCount
    }

    /// What a message says, in the order of sending: packets that arrived, and those that are taken for lost now.
    mutating func results(of feedback: RTCPTransportWideFeedback) -> [PacketResult] {
        // The receiver's reference time has 24 bits.
        let reference = references.unwrap(UInt32(bitPattern: feedback.referenceTime) << 8) >> 8
        var tick = reference << 8
        // A number belongs to what was sent lately: never ahead of the last, nor half the range behind it.
        let last = first + Int64(entries.count) - 1
        let behind = UInt16(truncatingIfNeeded: last) &- feedback.baseSequenceNumber
        let base = last - Int64(behind)
        var results: [PacketResult] = []
        // What the message before called missing and this one does not bring is lost.
        for number in suspects where number < base && number >= first {
            let index = Int(number - first)
            let entry = entries[offset: index]
            guard !entry.isAcknowledged else { continue }
            acknowledge(index)
            results.append(
                PacketResult(
                    number: number, sent: entry.sent, byteCount: Int(entry.byteCount), arrival: nil,
                    content: entry.content))
        }
        suspects.removeAll { $0 < base }
        for (place, status) in feedback.statuses.enumerated() {
            if case .received(let delta) = status { tick += Int64(delta) }
            let index = base + Int64(place) - first
            guard index >= 0, index < Int64(entries.count) else { continue }
            let entry = entries[offset: Int(index)]
            guard !entry.isAcknowledged else { continue }
            switch status {
            case .missing:
                if !entry.isSuspected {
                    entries[entries.index(entries.startIndex, offsetBy: Int(index))].isSuspected = true
                    suspects.append(first + index)
                }
            case .received:
                acknowledge(Int(index))
                results.append(
                    PacketResult(
                        number: first + index, sent: entry.sent, byteCount: Int(entry.byteCount),
                        arrival: tick * 250, content: entry.content))
            }
        }
        while entries.first?.isAcknowledged == true { removeFirst() }
        return results.sorted { $0.number < $1.number }
    }

    private mutating func acknowledge(_ index: Int) {
        let place = entries.index(entries.startIndex, offsetBy: index)
        entries[place].isAcknowledged = true
        bytesInFlight -= Int(entries[place].byteCount)
    }

    private mutating func removeFirst() {
        guard let entry = entries.popFirst() else { return }
        if !entry.isAcknowledged { bytesInFlight -= Int(entry.byteCount) }
        first += 1
    }
}
