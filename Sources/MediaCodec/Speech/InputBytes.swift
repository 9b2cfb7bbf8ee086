import CFFmpeg
import IoTCore
import NIOCore

/// Where a `SoundReader`'s bytes come from: a file, or a channel through libavformat's callback.
final class InputBytes {
    /// libavformat reads this much at once.
    private static let blockSize: Int32 = 4_096

    let url: String
    /// The protocols that libavformat may use.
    let protocols: String
    private let name: String
    private let channel: ByteChannel?
    /// Bytes of the channel that were read to look at the header.
    private var head = ByteBuffer()
    /// How many more bytes of the channel belong to the sound; `nil`: all.
    private var remaining: Int?
    private let gate: InterruptGate
    private var io: UnsafeMutablePointer<AVIOContext>?

    init(_ input: SoundReader.Input, cancellation: DemuxerCancellation) throws(IoTError) {
        gate = InterruptGate(cancellation: cancellation)
        switch input {
        case .file(let path):
            // The prefix prevents libav from seeing a scheme in a file name.
            (url, protocols, name, channel) = ("file:" + path, "file", "the file \(path)", nil)
        case .channel(let bytes):
            (url, protocols, name, channel) = ("", "none", "the stream", bytes)
            guard let memory = av_malloc(Int(Self.blockSize)) else { throw IoTError.outOfMemory() }
            io = avio_alloc_context(
                memory.assumingMemoryBound(to: UInt8.self), Self.blockSize, 0,
                Unmanaged.passUnretained(self).toOpaque(),
                { opaque, target, count in
                    guard let opaque, let target, count > 0 else { return LibAVError.endOfFile }
                    return Unmanaged<InputBytes>.fromOpaque(opaque).takeUnretainedValue()
                        .read(into: target, count: Int(count))
                }, nil, nil)
            guard io != nil else {
                av_free(memory)
                throw IoTError.outOfMemory()
            }
        }
    }

    deinit {
        if let io { av_free(io.pointee.buffer) }
        avio_context_free(&io)
    }

    var isCancelled: Bool { gate.isCancelled || channel?.isClosed == true }

    func attach(to format: UnsafeMutablePointer<AVFormatContext>) {
        format.pointee.interrupt_callback = gate.callback
        guard let io else { return }
        format.pointee.pb = io
        format.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    }

    /// The header of a stream of plain PCM samples, which is then skipped; `nil` for other streams and for files.
    func takeWAVHeader() -> WAVHeader? {
        guard let channel else { return nil }
        var block = [UInt8](repeating: 0, count: WAVHeader.longest)
        while head.readableBytes < WAVHeader.longest {
            let room = WAVHeader.longest - head.readableBytes
            let count = block.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.flatMap { channel.read(into: $0, count: room) } ?? 0
            }
            guard count > 0 else { return nil }
            head.writeBytes(block[..<count])
            if let header = WAVHeader(head) {
                head.moveReaderIndex(forwardBy: header.length)
                remaining = header.dataLength
                return header
            }
            // Not WAV: libavformat finds out what it is.
            if head.readableBytes >= 4, head.getString(at: 0, length: 4) != "RIFF" { return nil }
        }
        return nil
    }

    /// libavformat's callback.
    private func read(into target: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
        let count = min(count, remaining ?? count)
        guard count > 0 else { return LibAVError.endOfFile }
        var length = min(count, head.readableBytes)
        if length > 0 {
            head.readWithUnsafeReadableBytes { bytes in
                if let start = bytes.baseAddress {
                    UnsafeMutableRawPointer(target).copyMemory(from: start, byteCount: length)
                }
                return length
            }
        } else {
            guard let read = channel?.read(into: target, count: count) else { return LibAVError.interrupted }
            guard read > 0 else { return LibAVError.endOfFile }
            length = read
        }
        remaining = remaining.map { $0 - length }
        return Int32(length)
    }

    // MARK: Errors

    func failure(_ result: Int32) -> IoTError {
        if isCancelled { return IoTError(.stopping, "reading \(name) was cancelled") }
        let cause = LibAVError(result)
        switch result {
        case LibAVError.outOfMemory:
            return .outOfMemory()
        case cffmpeg_error(ENOENT), cffmpeg_error(ENOTDIR):
            return IoTError(
                .sourceNotFound, "there is no file \(name.dropFirst("the file ".count))", remedy: "check the path",
                underlying: cause)
        case cffmpeg_error(EACCES), cffmpeg_error(EISDIR), cffmpeg_error(EIO):
            return IoTError(
                .sourceUnreachable, "\(name) cannot be read: \(cause)", remedy: "check its kind and permissions",
                underlying: cause)
        default:
            return unsupported("is not sound in a supported format: \(cause)", underlying: cause)
        }
    }

    /// - Parameter reason: completes a sentence that starts with the name.
    func unsupported(_ reason: String, underlying: (any Error)? = nil) -> IoTError {
        let remedy =
            "send WAV, Ogg, FLAC, MP3, AAC or MP4"
            + (channel == nil ? "" : " (MP4 with its header at the start: ffmpeg -movflags +faststart)")
        return IoTError(.sourceUnsupported, "\(name) \(reason)", remedy: remedy, underlying: underlying)
    }
}
