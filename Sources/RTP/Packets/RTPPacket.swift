public import IoTCore
public import NIOCore

/// One RTP packet (RFC 3550 §5.1), without padding.
public struct RTPPacket: Sendable {
    /// 0–127.
    public var payloadType: UInt8
    public var marker: Bool
    public var sequenceNumber: UInt16
    public var timestamp: UInt32
    public var ssrc: UInt32

    /// At most 15 are written.
    public var csrcs: [UInt32]

    public var headerExtension: RTPHeaderExtension?

    /// The payload without padding. In a parsed packet it is a slice of the datagram.
    public var payload: ByteBuffer

    @inlinable
    public init(
        payloadType: UInt8, marker: Bool, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32,
        csrcs: [UInt32] = [], headerExtension: RTPHeaderExtension? = nil, payload: ByteBuffer
    ) {
        self.payloadType = payloadType
        self.marker = marker
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
        self.csrcs = csrcs
        self.headerExtension = headerExtension
        self.payload = payload
    }

    /// The size of the header in bytes, with CSRCs and extension.
    @inlinable public var headerByteCount: Int {
        Self.minimumHeaderSize + csrcs.count * 4 + (headerExtension.map { 4 + $0.data.readableBytes } ?? 0)
    }

    /// The size in bytes of a header without CSRCs and extension.
    @inlinable public static var minimumHeaderSize: Int { 12 }

    /// Parses one packet that fills `datagram`. The payload shares the datagram's storage.
    ///
    /// - Throws: `peerFailed` if the version is not 2, or the packet is shorter than its header, CSRC list, extension
    ///   or padding.
    @inlinable
    public init(parsing datagram: ByteBuffer) throws(IoTError) {
        var rest = datagram
        guard
            let (flags, second, sequenceNumber, timestamp, ssrc) = rest.readMultipleIntegers(
                as: (UInt8, UInt8, UInt16, UInt32, UInt32).self)
        else { throw IoTError(.peerFailed, "an RTP packet is shorter than its header") }
        guard flags >> 6 == 2 else { throw IoTError(.peerFailed, "an RTP packet's version is not 2") }

        var csrcs: [UInt32] = []
        for _ in 0..<(flags & 0x0F) {
            guard let csrc = rest.readInteger(as: UInt32.self) else {
                throw IoTError(.peerFailed, "an RTP packet ends inside its CSRC list")
            }
            csrcs.append(csrc)
        }

        var headerExtension: RTPHeaderExtension?
        if flags & 0x10 != 0 {
            guard let (profile, words) = rest.readMultipleIntegers(as: (UInt16, UInt16).self),
                let data = rest.readSlice(length: Int(words) * 4)
            else { throw IoTError(.peerFailed, "an RTP packet ends inside its header extension") }
            headerExtension = RTPHeaderExtension(profile: profile, data: data)
        }

        if flags & 0x20 != 0 {
            // RFC 3550 §5.1: the last octet is the length of the padding, including itself.
            guard rest.readableBytes > 0,
                let padding = rest.getInteger(at: rest.writerIndex - 1, as: UInt8.self),
                padding > 0, Int(padding) <= rest.readableBytes
            else { throw IoTError(.peerFailed, "an RTP packet's padding is longer than the packet") }
            rest.moveWriterIndex(to: rest.writerIndex - Int(padding))
        }

        self.init(
            payloadType: second & 0x7F, marker: second & 0x80 != 0, sequenceNumber: sequenceNumber,
            timestamp: timestamp, ssrc: ssrc, csrcs: csrcs, headerExtension: headerExtension, payload: rest)
    }

    /// Appends the packet to `buffer`, without padding.
    public func write(into buffer: inout ByteBuffer) {
        let csrcs = csrcs.prefix(15)
        let flags = 0x80 | UInt8(csrcs.count) | (headerExtension == nil ? 0 : 0x10)
        Self.writeFixedHeader(
            flags: flags, payloadType: payloadType, marker: marker, sequenceNumber: sequenceNumber,
            timestamp: timestamp, ssrc: ssrc, into: &buffer)
        for csrc in csrcs { buffer.writeInteger(csrc) }
        headerExtension?.write(into: &buffer)
        buffer.writeImmutableBuffer(payload)
    }

    /// Writes the twelve fixed octets. The sending path calls this without an `RTPPacket`, in front of a shared
    /// payload.
    @inlinable
    static func writeFixedHeader(
        flags: UInt8 = 0x80, payloadType: UInt8, marker: Bool, sequenceNumber: UInt16, timestamp: UInt32,
        ssrc: UInt32, into buffer: inout ByteBuffer
    ) {
        // Two large writes are faster: this runs for each packet of each viewer.
        let second = payloadType & 0x7F | (marker ? 0x80 : 0)
        let head = UInt32(flags) << 24 | UInt32(second) << 16 | UInt32(sequenceNumber)
        buffer.writeInteger(UInt64(head) << 32 | UInt64(timestamp))
        buffer.writeInteger(ssrc)
    }
}
