public import NIOCore

/// A track's newest packets, stored once for all its viewers: for retransmission, and so that new viewers start with
/// the newest key frame. When it is full, the oldest packets are removed.
public struct PacketRing: Sendable {
    /// The maximum number of payload bytes. Default 16 MiB.
    public let maximumBytes: Int

    /// The maximum age of a packet. Default 12 s, so that a GOP of 10 s fits.
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

    /// The number of payload bytes in the ring.
    @inlinable public var byteCount: Int { bytes }

    public init(maximumBytes: Int = 16 << 20, maximumDuration: TimeAmount = .seconds(12)) {
        self.maximumBytes = maximumBytes
        self.maximumDuration = maximumDuration
    }

    /// The track sequences in the ring; empty at first.
    @inlinable public var sequences: Range<Int64> {
        guard let first = entries.first else { return 0..<0 }
        return first.packet.sequence..<(first.packet.sequence + Int64(entries.count))
    }

    /// The track sequence of the newest key frame's first packet; `nil` if the ring does not hold that packet.
    @inlinable public var newestKeyFrameSequence: Int64? { keyFrames.last }

    /// The packets of the newest key frame; `nil` if the ring does not (yet) hold all of them.
    public var newestKeyFrame: Range<Int64>? {
        guard let start = keyFrames.last else { return nil }
        var end = start
        while let packet = packet(sequence: end) {
            end += 1
            if packet.marker { return start..<end }
        }
        return nil
    }

    /// Appends the track's next packet. If it does not follow the last one, the ring is emptied first.
    @inlinable
    public mutating func append(_ packet: MediaPacket, at now: NIODeadline) {
        if let last = entries.last, packet.sequence != last.packet.sequence + 1 { removeAll() }
        entries.append(Entry(packet: packet, time: now))
        bytes += packet.payload.readableBytes
        if packet.isKeyFrameStart { keyFrames.append(packet.sequence) }
        while bytes > maximumBytes { removeFirst() }
        trim(at: now)
    }

    /// The packet with this track sequence; `nil` if the ring does not hold it.
    @inlinable
    public func packet(sequence: Int64) -> MediaPacket? {
        entry(sequence)?.packet
    }

    /// When the packet was appended.
    @inlinable
    public func time(ofSequence sequence: Int64) -> NIODeadline? {
        entry(sequence)?.time
    }

    /// Removes packets that are too old. `append` does this too.
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
