import NIOCore

/// A received packet: its header, and an iterator over its chunks (RFC 9260 §3).
struct SCTPPacket {
    static let headerSize = 12

    let sourcePort: UInt16
    let destinationPort: UInt16
    let tag: UInt32
    private var rest: ByteBuffer

    /// Returns `nil` when the packet is too short or its checksum is wrong.
    init?(parsing packet: ByteBuffer) {
        var rest = packet
        guard
            let (source, destination, tag) = rest.readMultipleIntegers(as: (UInt16, UInt16, UInt32).self),
            // Effectively little-endian: appendix A of RFC 9260 swaps the bytes.
            let checksum = rest.readInteger(endianness: .little, as: UInt32.self),
            packet.withUnsafeReadableBytes({ CRC32C.checksum(ofPacket: $0) }) == checksum
        else { return nil }
        sourcePort = source
        destinationPort = destination
        self.tag = tag
        self.rest = rest
    }

    /// Returns `nil` at the end, and at a chunk with an invalid length.
    mutating func nextChunk() -> SCTPRawChunk? {
        guard let (type, flags, length) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self), length >= 4,
            let value = rest.readSlice(length: Int(length) - 4)
        else { return nil }
        rest.moveReaderIndex(forwardBy: min(SCTPPadding.length(of: Int(length)), rest.readableBytes))
        return SCTPRawChunk(type: type, flags: flags, value: value)
    }
}

/// A chunk with an unparsed value.
struct SCTPRawChunk {
    var type: UInt8
    var flags: UInt8
    var value: ByteBuffer
}

enum SCTPPadding {
    /// Bytes to the next multiple of four.
    static func length(of count: Int) -> Int {
        -count & 3
    }
}

/// Fills one packet up to a size limit.
struct SCTPPacketWriter {
    private var buffer = ByteBuffer()
    private let limit: Int

    init(_ configuration: SCTPConfiguration, tag: UInt32) {
        limit = configuration.maximumPacketSize
        buffer.reserveCapacity(limit)
        buffer.writeMultipleIntegers(configuration.localPort, configuration.remotePort, tag, UInt32(0))
    }

    var remaining: Int { limit - buffer.readableBytes }
    var isEmpty: Bool { buffer.readableBytes == SCTPPacket.headerSize }

    /// Appends a chunk with its padding. Returns false when there is no room.
    mutating func append(_ chunk: ByteBuffer) -> Bool {
        guard chunk.readableBytes <= remaining else { return false }
        buffer.writeImmutableBuffer(chunk)
        return true
    }

    /// Appends a chunk; the caller must have checked `remaining`.
    mutating func append(_ chunk: SCTPDataChunk) {
        let length = SCTPDataChunk.headerSize + chunk.payload.readableBytes
        buffer.writeMultipleIntegers(
            SCTPChunkType.data, chunk.flags.rawValue, UInt16(truncatingIfNeeded: length), chunk.tsn, chunk.stream,
            chunk.sequence, chunk.payloadProtocol)
        buffer.writeImmutableBuffer(chunk.payload)
        buffer.writeRepeatingByte(0, count: SCTPPadding.length(of: length))
    }

    mutating func finish() -> ByteBuffer {
        let checksum = buffer.withUnsafeReadableBytes { CRC32C.checksum(ofPacket: $0) }
        buffer.setInteger(checksum, at: buffer.readerIndex + 8, endianness: .little)
        return buffer
    }
}
