import NIOCore
import RTP

/// Delays packets so that they leave no faster than the path carries them. Data for 20 ms may be sent at once: an
/// ordinary picture then goes to the kernel in one call, with a fifth of the CPU time. The rest follows every 10 ms, at
/// whole multiples of 10 ms, so that an event loop wakes once for all its peers.
///
/// Audio never waits; repairs are sent before pictures. The queue is bounded by `maximumCount` and by the time that it
/// takes to send it. Above the bound, a video track's frames are refused, from the next frame up to the next key frame
/// that starts while the queue is below the bound: every frame that is sent is complete.
struct Pacer: Sendable {
    struct Item: Sendable {
        var track: Int
        var packet: MediaPacket
        var isRepair: Bool
        var enqueued: NIODeadline
    }

    private struct RepairKey: Hashable {
        var track: Int
        var sequence: Int64

        init(_ item: Item) {
            track = item.track
            sequence = item.packet.sequence
        }
    }

    /// Bits per second.
    private(set) var rate: Int

    private let maximumDelay: TimeAmount
    private let maximumCount: Int
    private var repairs = CircularBuffer<Item>()

    /// The packets in `repairs`. Another request for one of them has no effect.
    private var awaitedRepairs: Set<RepairKey> = []
    private var pictures = CircularBuffer<Item>()
    private var queuedBytes = 0

    /// When everything sent so far would have been sent at `rate`. `pop` returns nothing while this is more than
    /// `burst` ahead.
    private var coveredUntil: NIODeadline

    /// The timestamp of each track's last frame, and whether the track refuses frames.
    private var frames: [Int: (timestamp: UInt32, isRefusing: Bool)] = [:]

    private static let burst = TimeAmount.milliseconds(20)
    private static let step = TimeAmount.milliseconds(10)

    /// How late a timer may fire without a loss of rate.
    private static let lateness = TimeAmount.milliseconds(2)
    private static let maximumRepairs = 1_024

    /// A repair that has waited longer comes too late.
    private static let maximumRepairAge = TimeAmount.seconds(1)

    /// The bytes of a packet besides its payload: the RTP headers and the SRTP tag.
    private static let overhead = 36

    /// Bytes that are not charged against the rate, once at the start, so that the first key frame arrives soon.
    private var credit: Int

    init(rate: Int, maximumDelay: TimeAmount, maximumCount: Int, credit: Int = 0, at now: NIODeadline) {
        self.credit = credit
        self.rate = rate
        self.maximumDelay = maximumDelay
        self.maximumCount = maximumCount
        coveredUntil = now
    }

    var count: Int { repairs.count + pictures.count }

    /// How long it takes to send the queue.
    var delay: TimeAmount { duration(of: queuedBytes) }

    mutating func set(rate: Int) {
        self.rate = max(rate, 10_000)
    }

    private func duration(of bytes: Int) -> TimeAmount {
        .nanoseconds(Int64(bytes) * 8 * 1_000_000_000 / Int64(max(rate, 1)))
    }

    /// Charges a packet against the rate. Audio, which is sent at once, is charged as well.
    mutating func pay(byteCount: Int, at now: NIODeadline) {
        let cost = max(byteCount + Self.overhead - credit, 0)
        credit -= min(credit, byteCount + Self.overhead)
        coveredUntil = max(coveredUntil, now - Self.lateness) + duration(of: cost)
    }

    private func size(of packet: MediaPacket) -> Int {
        packet.payload.readableBytes + Self.overhead
    }

    /// Queues a packet of a picture.
    ///
    /// - Returns: false when the packet is refused.
    mutating func append(_ packet: MediaPacket, track: Int, at now: NIODeadline) -> Bool {
        let isNewFrame = frames[track]?.timestamp != packet.timestamp
        var isRefusing = frames[track]?.isRefusing ?? false
        if isNewFrame {
            let isFull = delay > maximumDelay || pictures.count >= maximumCount
            if isRefusing {
                isRefusing = !packet.isKeyFrameStart || isFull
            } else {
                isRefusing = isFull
            }
        }
        frames[track] = (packet.timestamp, isRefusing)
        // A frame that was accepted is accepted whole, up to twice the maximum.
        guard !isRefusing, pictures.count < 2 * maximumCount else { return false }
        // Unused time does not accumulate.
        if count == 0 { coveredUntil = max(coveredUntil, now) }
        pictures.append(Item(track: track, packet: packet, isRepair: false, enqueued: now))
        queuedBytes += size(of: packet)
        return true
    }

    /// Queues a packet for retransmission. Returns false when it waits already, or when too many do.
    mutating func append(repair packet: MediaPacket, track: Int, at now: NIODeadline) -> Bool {
        let item = Item(track: track, packet: packet, isRepair: true, enqueued: now)
        guard repairs.count < Self.maximumRepairs, awaitedRepairs.insert(RepairKey(item)).inserted else {
            return false
        }
        repairs.append(item)
        queuedBytes += size(of: packet)
        return true
    }

    /// The next packet that may leave now.
    mutating func pop(at now: NIODeadline) -> Item? {
        guard count > 0, coveredUntil <= now + Self.burst else { return nil }
        while let first = repairs.first, now - first.enqueued > Self.maximumRepairAge { _ = popRepair() }
        guard let item = popRepair() ?? popPicture() else { return nil }
        pay(byteCount: item.packet.payload.readableBytes, at: now)
        return item
    }

    private mutating func popRepair() -> Item? {
        guard let item = repairs.popFirst() else { return nil }
        awaitedRepairs.remove(RepairKey(item))
        queuedBytes -= size(of: item.packet)
        return item
    }

    private mutating func popPicture() -> Item? {
        guard let item = pictures.popFirst() else { return nil }
        queuedBytes -= size(of: item.packet)
        return item
    }

    /// When `pop` may next return a packet.
    var deadline: NIODeadline? {
        guard count > 0 else { return nil }
        let early = (coveredUntil - Self.burst).uptimeNanoseconds
        let step = UInt64(Self.step.nanoseconds)
        return .uptimeNanoseconds((early + step - 1) / step * step)
    }
}
