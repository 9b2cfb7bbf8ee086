public import NIOCore

/// A track's newest packets, kept once for all its viewers: for retransmission, and to begin with the newest key
/// frame. When full, the oldest packets go.
public struct PacketRing: Sendable {
    /// Payload bytes kept, at most. Default 16 MiB.
    public let maximumBytes: Int

    /// The age of the oldest packet, at most. Default 12 s, so that a GOP of 10 s fits.
    public let maximumDuration: TimeAmount

    private struct Entry: Sendable {
        var packet: MediaPacket
        var time: NIODeadline
    }

    private var entries = CircularBuffer<Entry>(initialCapacity: 256)
    private var keyFrames = CircularBuffer<Int64>(initialCapacity: 4)

    /// Payload bytes kept now.
    public private(set) var byteCount = 0

    public init(maximumBytes: Int = 16 << 20, maximumDuration: TimeAmount = .seconds(12)) {
        self.maximumBytes = maximumBytes
        self.maximumDuration = maximumDuration
    }

    /// The track sequences that are kept; empty at the start.
    public var sequences: Range<Int64> {
        guard let first = entries.first else { return 0..<0 }
        return first.packet.sequence..<(first.packet.sequence + Int64(entries.count))
    }

    /// Where the newest key frame begins; `nil` when it is no longer, or not yet, kept as a whole.
    public var newestKeyFrameSequence: Int64? { keyFrames.last }

    /// The packets of the newest key frame; `nil` when it is not, or not yet, kept as a whole.
    public var newestKeyFrame: Range<Int64>? {
        guard let start = keyFrames.last else { return nil }
        var end = start
        while let packet = packet(sequence: end) {
            end += 1
            if packet.marker { return start..<end }
        }
        return nil
    }

    /// Adds the track's next packet. One that does not follow the last begins a new ring.
    public mutating func append(_ packet: MediaPacket, at now: NIODeadline) {
        if let last = entries.last, packet.sequence != last.packet.sequence + 1 { removeAll() }
        entries.append(Entry(packet: packet, time: now))
        byteCount += packet.payload.readableBytes
        if packet.isKeyFrameStart { keyFrames.append(packet.sequence) }
        while byteCount > maximumBytes { removeFirst() }
        trim(at: now)
    }

    /// The packet with this track sequence; `nil` when it is not kept.
    public func packet(sequence: Int64) -> MediaPacket? {
        entry(sequence)?.packet
    }

    /// When the packet was appended.
    public func time(ofSequence sequence: Int64) -> NIODeadline? {
        entry(sequence)?.time
    }

    /// Drops what has become too old; `append` does so too.
    public mutating func trim(at now: NIODeadline) {
        while let first = entries.first, now - first.time > maximumDuration { removeFirst() }
    }

    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        keyFrames.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    private func entry(_ sequence: Int64) -> Entry? {
        guard sequences.contains(sequence) else { return nil }
        return entries[offset: Int(sequence - sequences.lowerBound)]
    }

    private mutating func removeFirst() {
        guard let entry = entries.popFirst() else { return }
        byteCount -= entry.packet.payload.readableBytes
        if keyFrames.first == entry.packet.sequence { keyFrames.removeFirst() }
    }
}
