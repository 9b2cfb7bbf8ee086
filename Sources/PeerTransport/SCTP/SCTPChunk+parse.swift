import NIOCore

/// Each initializer returns `nil` for a malformed value.
extension SCTPDataChunk {
    init?(_ chunk: SCTPRawChunk) {
        var value = chunk.value
        guard
            let (tsn, stream, sequence, payloadProtocol) = value.readMultipleIntegers(
                as: (UInt32, UInt16, UInt16, UInt32).self)
        else { return nil }
        self.init(
            flags: Flags(rawValue: chunk.flags), tsn: tsn, stream: stream, sequence: sequence,
            payloadProtocol: payloadProtocol, payload: value)
    }
}

/// Iterates over parameters (RFC 9260 §3.2.1).
struct SCTPParameters: Sequence, IteratorProtocol {
    private var rest: ByteBuffer
    /// True when the rest is malformed.
    private(set) var isDamaged = false

    init(_ value: ByteBuffer) {
        rest = value
    }

    /// The type, the value, and the whole parameter without padding.
    mutating func next() -> (type: UInt16, value: ByteBuffer, whole: ByteBuffer)? {
        guard rest.readableBytes > 0 else { return nil }
        guard let length = rest.getInteger(at: rest.readerIndex + 2, as: UInt16.self), length >= 4,
            let whole = rest.readSlice(length: Int(length))
        else {
            isDamaged = true
            return nil
        }
        rest.moveReaderIndex(forwardBy: Swift.min(SCTPPadding.length(of: Int(length)), rest.readableBytes))
        var value = whole
        guard let (type, _) = value.readMultipleIntegers(as: (UInt16, UInt16).self) else { return nil }
        return (type, value, whole)
    }
}

extension SCTPInitiation {
    private static let maximumReported = 8

    init?(_ chunk: SCTPRawChunk) {
        var value = chunk.value
        guard let (tag, window) = value.readMultipleIntegers(as: (UInt32, UInt32).self),
            let (outgoing, incoming, tsn) = value.readMultipleIntegers(as: (UInt16, UInt16, UInt32).self)
        else { return nil }
        self.init(
            tag: tag, window: window, outgoingStreams: outgoing, incomingStreams: incoming, tsn: tsn,
            supportsForwardTSN: false, supportsReconfiguration: false)
        var parameters = SCTPParameters(value)
        reading: while let (type, value, whole) = parameters.next() {
            switch type {
            case SCTPParameterType.stateCookie:
                cookie = value
            case SCTPParameterType.forwardTSNSupported:
                supportsForwardTSN = true
            case SCTPParameterType.supportedExtensions:
                let types = value.readableBytesView
                if types.contains(SCTPChunkType.forwardTSN) { supportsForwardTSN = true }
                if types.contains(SCTPChunkType.reconfiguration) { supportsReconfiguration = true }
            // Addresses, address types, cookie preservation, and reports of unrecognized parameters: unused over DTLS.
            case 5, 6, 8, 9, 11, 12: break
            default:
                // The two highest bits of an unknown type say how to handle it (RFC 9260 §3.2.1).
                if type & 0x4000 != 0, unrecognised.count < Self.maximumReported, whole.readableBytes <= 64 {
                    unrecognised.append(whole)
                }
                if type & 0x8000 == 0 { break reading }
            }
        }
        if parameters.isDamaged { return nil }
    }
}

extension SCTPAcknowledgement {
    init?(_ chunk: SCTPRawChunk) {
        var value = chunk.value
        guard
            let (tsn, window, gapCount, duplicateCount) = value.readMultipleIntegers(
                as: (UInt32, UInt32, UInt16, UInt16).self),
            value.readableBytes >= 4 * (Int(gapCount) + Int(duplicateCount))
        else { return nil }
        self.init(cumulativeTSN: tsn, window: window)
        gaps.reserveCapacity(Int(gapCount))
        for _ in 0..<gapCount {
            guard let (start, end) = value.readMultipleIntegers(as: (UInt16, UInt16).self) else { return nil }
            gaps.append(GapBlock(start: start, end: end))
        }
        for _ in 0..<duplicateCount {
            guard let duplicate = value.readInteger(as: UInt32.self) else { return nil }
            duplicates.append(duplicate)
        }
    }
}

extension SCTPForwardTSN {
    init?(_ chunk: SCTPRawChunk) {
        var value = chunk.value
        guard let tsn = value.readInteger(as: UInt32.self), value.readableBytes % 4 == 0 else { return nil }
        self.init(newCumulativeTSN: tsn)
        while let (stream, sequence) = value.readMultipleIntegers(as: (UInt16, UInt16).self) {
            streams.append(Stream(stream: stream, sequence: sequence))
        }
    }
}

extension SCTPReconfiguration {
    /// One chunk may contain at most two of them (RFC 6525 §3.1).
    static func parse(_ chunk: SCTPRawChunk) -> [SCTPReconfiguration] {
        SCTPParameters(chunk.value).prefix(2).compactMap { SCTPReconfiguration(type: $0.type, $0.value) }
    }

    private init?(type: UInt16, _ parameter: ByteBuffer) {
        var value = parameter
        guard let sequence = value.readInteger(as: UInt32.self) else { return nil }
        switch type {
        case SCTPParameterType.outgoingReset:
            guard let (response, lastTSN) = value.readMultipleIntegers(as: (UInt32, UInt32).self) else { return nil }
            var streams: [UInt16] = []
            while let stream = value.readInteger(as: UInt16.self) { streams.append(stream) }
            self = .outgoingReset(request: sequence, response: response, lastTSN: lastTSN, streams: streams)
        case SCTPParameterType.resetResponse:
            guard let result = value.readInteger(as: UInt32.self) else { return nil }
            self = .response(sequence: sequence, result: result)
        case SCTPParameterType.incomingReset, SCTPParameterType.associationReset,
            SCTPParameterType.addOutgoingStreams, SCTPParameterType.addIncomingStreams:
            self = .other(request: sequence)
        default:
            return nil
        }
    }
}
