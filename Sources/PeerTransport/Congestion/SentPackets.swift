import NIOCore
import RTP

/// The content of a packet that has a transport-wide number.
struct SentContent: Sendable, Hashable {
    /// The track's index in the connection.
    var track: UInt8
    var isRepair: Bool

    /// The media sequence number on the wire; for a repair, the number of the repaired packet.
    var number: UInt16
}

/// One packet that was sent with a transport-wide number, and its outcome.
struct PacketResult: Sendable, Hashable {
    var number: Int64
    var sent: NIODeadline

    /// The datagram without UDP and IP headers.
    var byteCount: Int

    /// µs on the receiver's clock; `nil` for a packet that counts as lost.
    var arrival: Int64?
    var content: SentContent
}

/// The packets that feedback has not reported yet.
struct SentPackets: Sendable {
    private struct Entry: Sendable {
        var sent: NIODeadline
        var content: SentContent
        var byteCount: UInt16
        var isAcknowledged = false

        /// One message has reported it as missing. The next one decides, because it may only be late.
        var isSuspected = false
    }

    private var entries = CircularBuffer<Entry>()

    /// The number of the first entry.
    private var first: Int64 = 1
    private var unwrapper = SequenceUnwrapper<UInt16>()
    private var references = SequenceUnwrapper<UInt32>()

    /// Numbers that one message has reported as missing.
    private var suspects: [Int64] = []

    /// Bytes that were sent and not reported yet.
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

    /// The results of one message, in order of sending: packets that arrived, and those that now count as lost.
    mutating func results(of feedback: RTCPTransportWideFeedback) -> [PacketResult] {
        // The receiver's reference time has 24 bits.
        let reference = references.unwrap(UInt32(bitPattern: feedback.referenceTime) << 8) >> 8
        var tick = reference << 8
        // The base number refers to a recent packet: the last one, or one of the 65,535 before it.
        let last = first + Int64(entries.count) - 1
        let behind = UInt16(truncatingIfNeeded: last) &- feedback.baseSequenceNumber
        let base = last - Int64(behind)
        var results: [PacketResult] = []
        // A packet that the last message reported as missing and this one does not report is lost.
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
