import NIOCore
import RTP

/// Numbers the packets of the caller's pictures, and keeps the newest for retransmission. They come from one camera after
/// another, each with numbers and a clock of its own. A value without I/O.
struct CallerPackets {
    /// About four seconds at 3 Mbit/s, which is longer than a receiver waits for a packet.
    static let capacity = 1_280
    private var kept: [MediaPacket] = []
    /// The number of the next packet.
    private var next: Int64 = 0
    /// Added to the times of the present camera, µs.
    private var shift: Int64 = 0
    /// The newest picture's time, µs, and when it was sent.
    private var newest: (pts: Int64, time: NIODeadline)?
    private var isFirst = true

    /// The following packets come from another camera, or from the same one after a pause.
    mutating func begin() { isFirst = true }

    /// The packets as they are sent.
    mutating func place(_ packets: [MediaPacket], clockRate: Int, at now: NIODeadline) -> [MediaPacket] {
        let placed = packets.map { packet in
            if isFirst {
                isFirst = false
                // The time that has really passed is between the pictures of two cameras.
                if let newest { shift = newest.pts &+ (now - newest.time).nanoseconds / 1_000 &- packet.pts }
            }
            var placed = packet.moved(to: packet.pts &+ shift, clockRate: clockRate)
            placed.sequence = next
            next += 1
            if placed.pts >= newest?.pts ?? .min { newest = (placed.pts, now) }
            return placed
        }
        kept += placed
        if kept.count > 2 * Self.capacity { kept.removeFirst(kept.count - Self.capacity) }
        return placed
    }

    /// The packet with this number, if it is kept.
    func packet(sequence: Int64) -> MediaPacket? {
        guard let first = kept.first else { return nil }
        let index = sequence - first.sequence
        return kept.indices.contains(Int(clamping: index)) ? kept[Int(index)] : nil
    }
}
