import IoTCore
import NIOCore

/// The kinds of NAL units that a picture has so far, and its open fragment.
struct NALUnitContent: Sendable {
    /// The index at which to write the length of the fragmented unit that is being received.
    var openFragment: Int?
    var hasSlice = false
    var hasRandomAccess = false
    var hasParameterSet = false
    var hasSequenceParameterSet = false

    mutating func note(_ type: NALUnitType) {
        hasSlice = hasSlice || type.isSlice
        hasRandomAccess = hasRandomAccess || type.isRandomAccess
        hasParameterSet = hasParameterSet || type.isParameterSet
        hasSequenceParameterSet = hasSequenceParameterSet || type.isSequenceParameterSet
    }
}

/// Converts one H.264 or H.265 payload into NAL units with a 4-byte length prefix each.
struct NALUnitPayloadReader: Sendable {
    let codec: VideoCodec

    /// A larger picture is treated as damaged, so that fragments without an end cannot exhaust the memory.
    static let maximumPictureSize = 16 << 20

    private var headerSize: Int { codec == .h264 ? 1 : 2 }

    func type(_ unit: ByteBuffer) -> NALUnitType? {
        unit.getInteger(at: unit.readerIndex, as: UInt8.self).map { NALUnitType(codec: codec, firstByte: $0) }
    }

    private enum Structure {
        case single
        case aggregation
        case fragment
    }

    private func structure(_ payload: ByteBuffer) -> Structure? {
        guard payload.readableBytes >= headerSize, let type = type(payload)?.rawValue else { return nil }
        switch codec {
        case .h264:
            switch type {
            case 1...23: return .single
            case RTPNALUnitType.stapA: return .aggregation
            case RTPNALUnitType.fuA: return .fragment
            default: return nil
            }
        case .h265:
            switch type {
            case 0..<48: return .single
            case RTPNALUnitType.aggregation: return .aggregation
            case RTPNALUnitType.fragmentation: return .fragment
            default: return nil
            }
        }
    }

    /// Appends the payload's units to `bytes`. False if the payload is malformed, does not continue the open fragment,
    /// or makes the picture too large.
    func read(_ payload: ByteBuffer, into bytes: inout ByteBuffer, _ content: inout NALUnitContent) -> Bool {
        guard bytes.readableBytes + payload.readableBytes <= Self.maximumPictureSize else { return false }
        switch structure(payload) {
        case .single:
            guard content.openFragment == nil else { return false }
            append(payload, to: &bytes, &content)
            return true
        case .aggregation:
            guard content.openFragment == nil else { return false }
            var rest = payload
            rest.moveReaderIndex(forwardBy: headerSize)
            while rest.readableBytes > 0 {
                guard let size = rest.readInteger(as: UInt16.self), let unit = rest.readSlice(length: Int(size))
                else { return false }
                if unit.readableBytes >= headerSize { append(unit, to: &bytes, &content) }
            }
            return true
        case .fragment: return readFragment(payload, into: &bytes, &content)
        case nil: return false
        }
    }

    private func append(_ unit: ByteBuffer, to bytes: inout ByteBuffer, _ content: inout NALUnitContent) {
        if let type = type(unit) { content.note(type) }
        bytes.writeInteger(UInt32(truncatingIfNeeded: unit.readableBytes))
        bytes.writeImmutableBuffer(unit)
    }

    /// FU-A (RFC 6184 §5.8) and FU (RFC 7798 §4.4.3).
    private func readFragment(
        _ payload: ByteBuffer, into bytes: inout ByteBuffer, _ content: inout NALUnitContent
    ) -> Bool {
        guard let fragment = Fragment(payload, codec: codec) else { return false }
        if fragment.isStart {
            guard content.openFragment == nil else { return false }
            content.openFragment = bytes.writerIndex
            content.note(NALUnitType(codec: codec, firstByte: fragment.firstByte))
            bytes.writeMultipleIntegers(UInt32(0), fragment.firstByte)
            if let second = fragment.secondByte { bytes.writeInteger(second) }
        }
        guard let start = content.openFragment else { return false }
        bytes.writeImmutableBuffer(fragment.body)
        if fragment.isEnd {
            bytes.setInteger(UInt32(truncatingIfNeeded: bytes.writerIndex - start - 4), at: start)
            content.openFragment = nil
        }
        return true
    }

    private struct Fragment {
        var isStart: Bool
        var isEnd: Bool

        /// The header of the whole unit; H.265 has two bytes.
        var firstByte: UInt8
        var secondByte: UInt8?
        var body: ByteBuffer

        init?(_ payload: ByteBuffer, codec: VideoCodec) {
            body = payload
            guard let indicator = body.readInteger(as: UInt8.self) else { return nil }
            if codec == .h265 {
                guard let second = body.readInteger(as: UInt8.self) else { return nil }
                secondByte = second
            }
            guard let header = body.readInteger(as: UInt8.self) else { return nil }
            isStart = header & 0x80 != 0
            isEnd = header & 0x40 != 0
            switch codec {
            case .h264:
                guard (1...23).contains(header & 0x1F) else { return nil }
                firstByte = indicator & 0xE0 | header & 0x1F
            case .h265:
                guard header & 0x3F < 48 else { return nil }
                firstByte = indicator & 0x81 | (header & 0x3F) << 1
            }
        }
    }
}

// MARK: Picture boundaries

extension NALUnitPayloadReader {
    /// Whether a picture may begin with this payload: a unit that precedes the first slice, or a slice with the first
    /// macroblock.
    func isPictureStart(_ payload: ByteBuffer) -> Bool {
        guard let (type, body) = firstUnit(payload) else { return false }
        let first = body.getInteger(at: body.readerIndex, as: UInt8.self) ?? 0
        switch codec {
        case .h264:
            // H.264 §7.4.1.2.3. first_mb_in_slice is the first Exp-Golomb code of a slice; a leading 1 bit encodes 0.
            return (6...9).contains(type.rawValue) || (14...18).contains(type.rawValue)
                || [1, 2, 5].contains(type.rawValue) && first & 0x80 != 0
        case .h265:
            // H.265 §7.4.2.4.4: VPS, SPS, PPS, AUD, prefix SEI, or first_slice_segment_in_pic_flag.
            return (32...35).contains(type.rawValue) || type.rawValue == 39
                || type.isSlice && first & 0x80 != 0
        }
    }

    /// Whether decoding can begin with this payload: it begins with a parameter set or, if parameter sets are not
    /// needed, with the first slice of a random access picture.
    func isDecodingStart(_ payload: ByteBuffer, needsParameterSets: Bool) -> Bool {
        guard isPictureStart(payload) else { return false }
        func begins(_ type: NALUnitType) -> Bool {
            type.isParameterSet || type.isRandomAccess && !needsParameterSets
        }
        if structure(payload) == .aggregation {
            var rest = payload
            rest.moveReaderIndex(forwardBy: headerSize)
            while let size = rest.readInteger(as: UInt16.self), let unit = rest.readSlice(length: Int(size)) {
                if let type = type(unit), begins(type) { return true }
            }
            return false
        }
        return firstUnit(payload).map { begins($0.0) } ?? false
    }

    /// The type of the first unit that begins in this payload, and the data after that unit's header.
    private func firstUnit(_ payload: ByteBuffer) -> (NALUnitType, ByteBuffer)? {
        var body = payload
        switch structure(payload) {
        case .single: break
        case .aggregation:
            body.moveReaderIndex(forwardBy: headerSize)
            guard let size = body.readInteger(as: UInt16.self), let unit = body.readSlice(length: Int(size))
            else { return nil }
            body = unit
        case .fragment:
            guard let fragment = Fragment(payload, codec: codec), fragment.isStart else { return nil }
            return (NALUnitType(codec: codec, firstByte: fragment.firstByte), fragment.body)
        case nil: return nil
        }
        guard let type = type(body), body.readSlice(length: headerSize) != nil else { return nil }
        return (type, body)
    }
}
