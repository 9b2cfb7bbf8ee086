package import NIOCore

/// The newest packets of a track, laid out one after the other as they are sent, once for all viewers that get the same
/// packets. For each viewer only what differs is written into the headers, before the bytes are sent: so the bytes are
/// those of the last viewer.
///
/// Not Sendable: confined to the track's event loop.
package final class PacketRun {
    /// The parts of the headers that differ between viewers.
    package struct Header {
        package var ssrc: UInt32
        /// The sequence number of the first packet.
        package var sequenceNumber: UInt16
        /// The channel of the prefix; not used without prefixes.
        package var channel: UInt8

        package init(ssrc: UInt32, sequenceNumber: UInt16, channel: UInt8) {
            self.ssrc = ssrc
            self.sequenceNumber = sequenceNumber
            self.channel = channel
        }
    }

    /// The largest number of bytes of a run.
    static let maximumByteCount = 65_000

    /// The size of the prefix of RFC 2326 §10.12.
    package static let prefixSize = 4

    /// Whether each packet follows a prefix (RFC 2326 §10.12).
    package let isInterleaved: Bool
    /// The sequences of the packets in the track; empty without a run.
    package private(set) var sequences: Range<Int64> = 0..<0
    /// The sizes of the packets, without their prefixes.
    package private(set) var sizes: [Int] = []
    /// The time of each packet in µs on the source's clock.
    package private(set) var times: [Int64] = []
    package private(set) var payloadByteCount = 0
    package private(set) var markerCount = 0
    package private(set) var keyFrameCount = 0
    /// Whether the last packet has the marker.
    package private(set) var endsFrame = false
    /// The packets with their headers and prefixes.
    package private(set) var bytes = ByteBuffer()

    package init(isInterleaved: Bool) {
        self.isInterleaved = isInterleaved
    }

    private var prefixSize: Int { isInterleaved ? Self.prefixSize : 0 }

    /// Takes the packets of a track from a sequence on.
    ///
    /// - Returns: false, and no run, if the ring does not hold the first packet, or if they are too many.
    package func take(_ ring: PacketRing, from first: Int64, payloadType: UInt8) -> Bool {
        let end = ring.sequences.upperBound
        if sequences == first..<end { return true }
        clear()
        guard ring.sequences.contains(first) else { return false }
        for sequence in first..<end {
            guard let packet = ring.packet(sequence: sequence),
                bytes.readableBytes + packet.payload.readableBytes + 16 <= Self.maximumByteCount
            else {
                clear()
                return false
            }
            append(packet, payloadType: payloadType)
        }
        sequences = first..<end
        return true
    }

    private func clear() {
        bytes.clear()
        sizes.removeAll(keepingCapacity: true)
        times.removeAll(keepingCapacity: true)
        (payloadByteCount, markerCount, keyFrameCount, endsFrame) = (0, 0, 0, false)
        sequences = 0..<0
    }

    private func append(_ packet: MediaPacket, payloadType: UInt8) {
        let size = RTPPacket.minimumHeaderSize + packet.payload.readableBytes
        if isInterleaved { bytes.writeMultipleIntegers(UInt8(ascii: "$"), UInt8(0), UInt16(clamping: size)) }
        RTPPacket.writeFixedHeader(
            payloadType: payloadType, marker: packet.marker, sequenceNumber: 0, timestamp: 0, ssrc: 0, into: &bytes)
        bytes.writeImmutableBuffer(packet.payload)
        sizes.append(size)
        times.append(packet.pts)
        payloadByteCount += packet.payload.readableBytes
        if packet.marker { markerCount += 1 }
        if packet.isKeyFrameStart { keyFrameCount += 1 }
        endsFrame = packet.marker
    }

    /// The number of packets from an index on that the kernel can split by itself: all have one size, except that the last
    /// may be smaller (UDP_SEGMENT, udp(7)).
    package func segmentCount(from start: Int, maximum: Int) -> Int {
        let size = sizes[start]
        var end = start + 1
        while end < sizes.count, end - start < maximum, sizes[end] <= size {
            end += 1
            if sizes[end - 1] < size { break }
        }
        return end - start
    }

    /// Writes one viewer's headers.
    ///
    /// - Parameter timestamp: The viewer's RTP time for a time in µs on the source's clock.
    package func write(_ header: Header, timestamp: (Int64) -> UInt32) {
        let prefix = prefixSize
        bytes.withUnsafeMutableReadableBytes { bytes in
            var offset = 0
            var number = header.sequenceNumber
            var (time, stamp) = (Int64.min, UInt32(0))
            for (size, pts) in zip(sizes, times) {
                // The packets of a frame have one time.
                if pts != time { (time, stamp) = (pts, timestamp(pts)) }
                if prefix > 0 { bytes[offset + 1] = header.channel }
                offset += prefix
                bytes.storeBytes(of: number.bigEndian, toByteOffset: offset + 2, as: UInt16.self)
                bytes.storeBytes(of: stamp.bigEndian, toByteOffset: offset + 4, as: UInt32.self)
                bytes.storeBytes(of: header.ssrc.bigEndian, toByteOffset: offset + 8, as: UInt32.self)
                offset += size
                number &+= 1
            }
        }
    }
}
