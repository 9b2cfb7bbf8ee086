public import NIOCore

/// A track's newest packets, kept once for all its viewers: for retransmission, and to begin with the newest key
/// frame. When full, the oldest packets go.
public struct PacketRing: Sendable {
    /// Payload bytes kept, at most. Default 16 MiB.
    public let maximumBytes: Int

    /// The age of the oldest packet, at most. Default 12 s, so that a GOP of 10 s fits.
    public let maximumDuration: TimeAmount

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var packet: MediaPacket
        @usableFromInline var time: NIODeadline

        @inlinable
        init(packet: MediaPacket, time: NIODeadline) {
            self.packet = packet
            self.time = time
        }
    }

    @usableFromInline var entries = CircularBuffer<Entry>(initialCapacity: 256)
    @usableFromInline var keyFrames = CircularBuffer<Int64>(initialCapacity: 4)

    @usableFromInline var bytes = 0

    /// Payload bytes kept now.
    @inlinable public var byteCount: Int { bytes }

    public init(maximumBytes: Int = 16 << 20, maximumDuration: TimeAmount = .seconds(12)) {
        self.maximumBytes = maximumBytes
        self.maximumDuration = maximumDuration
    }

    /// The track sequences that are kept; empty at the start.
    @inlinable public var sequences: Range<Int64> {
        guard let first = entries.first else { return 0..<0 }
        return first.packet.sequence..<(first.packet.sequence + Int64(entries.count))
    }

    /// Where the newest key frame begins; `nil` when it is no longer, or not yet, kept as a whole.
    @inlinable public var newestKeyFrameSequence: Int64? { keyFrames.last }

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
    @inlinable
    public mutating func append(_ packet: MediaPacket, at now: NIODeadline) {
        if let last = entries.last, packet.sequence != last.packet.sequence + 1 { removeAll() }
        entries.append(Entry(packet: packet, time: now))
        bytes += packet.payload.readableBytes
        if packet.isKeyFrameStart { keyFrames.append(packet.sequence) }
        while bytes > maximumBytes { removeFirst() }
        trim(at: now)
    }

    /// The packet with this track sequence; `nil` when it is not kept.
    @inlinable
    public func packet(sequence: Int64) -> MediaPacket? {
        entry(sequence)?.packet
    }

    /// When the packet was appended.
    @inlinable
    public func time(ofSequence sequence: Int64) -> NIODeadline? {
        entry(sequence)?.time
    }

    /// Drops what has become too old; `append` does so too.
    @inlinable
    public mutating func trim(at now: NIODeadline) {
        while let first = entries.first, now - first.time > maximumDuration { removeFirst() }
    }

    @inlinable
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        keyFrames.removeAll(keepingCapacity: true)
        bytes = 0
    }

    @inlinable
    func entry(_ sequence: Int64) -> Entry? {
        guard sequences.contains(sequence) else { return nil }
        return entries[offset: Int(sequence - sequences.lowerBound)]
    }

    @inlinable
    mutating func removeFirst() {
        guard let entry = entries.popFirst() else { return }
        bytes -= entry.packet.payload.readableBytes
        if keyFrames.first == entry.packet.sequence { keyFrames.removeFirst() }
    }
}
