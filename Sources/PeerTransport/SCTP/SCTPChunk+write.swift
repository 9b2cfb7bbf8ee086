import NIOCore

/// Writes complete chunks, with length and padding.
enum SCTPChunkWriter {
    static func chunk(
        _ type: UInt8, flags: UInt8 = 0, _ body: (inout ByteBuffer) -> Void = { _ in }
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(type, flags, UInt16(0))
        body(&buffer)
        let length = buffer.writerIndex
        buffer.setInteger(UInt16(truncatingIfNeeded: length), at: 2)
        buffer.writeRepeatingByte(0, count: SCTPPadding.length(of: length))
        return buffer
    }

    static func parameter(_ type: UInt16, in buffer: inout ByteBuffer, _ body: (inout ByteBuffer) -> Void = { _ in }) {
        // Pads the previous parameter. The last one's padding is the chunk's and is not counted (RFC 9260 §3.2).
        buffer.writeRepeatingByte(0, count: SCTPPadding.length(of: buffer.writerIndex))
        let start = buffer.writerIndex
        buffer.writeMultipleIntegers(type, UInt16(0))
        body(&buffer)
        buffer.setInteger(UInt16(truncatingIfNeeded: buffer.writerIndex - start), at: start + 2)
    }

    /// An ERROR or ABORT with one cause (RFC 9260 §3.3.7 and §3.3.10).
    static func failure(_ type: UInt8, cause: UInt16, _ body: (inout ByteBuffer) -> Void = { _ in }) -> ByteBuffer {
        chunk(type) { parameter(cause, in: &$0, body) }
    }
}

extension SCTPInitiation {
    func write(type: UInt8) -> ByteBuffer {
        SCTPChunkWriter.chunk(type) { buffer in
            buffer.writeMultipleIntegers(tag, window, outgoingStreams, incomingStreams, tsn)
            var extensions: [UInt8] = []
            if supportsReconfiguration { extensions.append(SCTPChunkType.reconfiguration) }
            if supportsForwardTSN {
                extensions.append(SCTPChunkType.forwardTSN)
                SCTPChunkWriter.parameter(SCTPParameterType.forwardTSNSupported, in: &buffer)
            }
            if !extensions.isEmpty {
                SCTPChunkWriter.parameter(SCTPParameterType.supportedExtensions, in: &buffer) {
                    $0.writeBytes(extensions)
                }
            }
            if let cookie {
                SCTPChunkWriter.parameter(SCTPParameterType.stateCookie, in: &buffer) {
                    $0.writeImmutableBuffer(cookie)
                }
            }
            for parameter in unrecognised {
                SCTPChunkWriter.parameter(SCTPParameterType.unrecognised, in: &buffer) {
                    $0.writeImmutableBuffer(parameter)
                }
            }
        }
    }
}

extension SCTPAcknowledgement {
    func write() -> ByteBuffer {
        SCTPChunkWriter.chunk(SCTPChunkType.selectiveAcknowledgement) { buffer in
            buffer.writeMultipleIntegers(
                cumulativeTSN, window, UInt16(clamping: gaps.count), UInt16(clamping: duplicates.count))
            for gap in gaps { buffer.writeMultipleIntegers(gap.start, gap.end) }
            for duplicate in duplicates { buffer.writeInteger(duplicate) }
        }
    }
}

extension SCTPForwardTSN {
    func write() -> ByteBuffer {
        SCTPChunkWriter.chunk(SCTPChunkType.forwardTSN) { buffer in
            buffer.writeInteger(newCumulativeTSN)
            for stream in streams { buffer.writeMultipleIntegers(stream.stream, stream.sequence) }
        }
    }
}

extension SCTPReconfiguration {
    func write() -> ByteBuffer {
        SCTPChunkWriter.chunk(SCTPChunkType.reconfiguration) { buffer in
            switch self {
            case .outgoingReset(let request, let response, let lastTSN, let streams):
                SCTPChunkWriter.parameter(SCTPParameterType.outgoingReset, in: &buffer) { buffer in
                    buffer.writeMultipleIntegers(request, response, lastTSN)
                    for stream in streams { buffer.writeInteger(stream) }
                }
            case .response(let sequence, let result):
                SCTPChunkWriter.parameter(SCTPParameterType.resetResponse, in: &buffer) {
                    $0.writeMultipleIntegers(sequence, result)
                }
            case .other(let request):
                // Never sent by this code. Written as an incoming reset of all streams, which is the shortest.
                SCTPChunkWriter.parameter(SCTPParameterType.incomingReset, in: &buffer) { $0.writeInteger(request) }
            }
        }
    }
}
