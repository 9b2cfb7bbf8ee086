import Glibc
import IoTCore
import NIOCore

extension ThreadedLoudspeaker {
    /// Writes what it hears to a WAV file, which only its owner may read. If the file exists, the sound is appended.
    ///
    /// - Parameter limit: The maximum size in bytes. Further sound is not written.
    package convenience init(wavFile path: String, limit: Int = 1 << 30) {
        self.init(name: "talk file") { () throws(IoTError) in try WAVFile(path: path, limit: limit) }
    }
}

/// A WAV file of 48 kHz mono sound. Its header's sizes are corrected at the end, so that until then, or after a crash,
/// they are those of the last end.
final class WAVFile: SoundOutput {
    private let path: String
    private let file: Int32
    private let limit: Int
    private var size: Int

    /// - Throws: 25017 `fileFailed`.
    init(path: String, limit: Int) throws(IoTError) {
        self.path = path
        self.limit = min(limit, Int(UInt32.max) - 8)
        // O_NONBLOCK, because opening a named pipe would otherwise wait for its reader.
        file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw Self.failure(path, errno) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw IoTError(.fileFailed, "\(path) is not a regular file", remedy: "choose another path")
        }
        // The lock ends with the descriptor.
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw IoTError(.fileFailed, "\(path) is in use by another camera", remedy: "choose another path")
        }
        size = Int(status.st_size)
        if size == 0 {
            try write(Self.header(size: 0), at: 0)
            size = Self.headerSize
        } else {
            try check()
        }
    }

    deinit {
        close(file)
    }

    func write(_ samples: [Int16]) throws(IoTError) {
        let count = min(2 * samples.count, max(0, limit - size)) / 2
        guard count > 0 else { return }
        var bytes = ByteBuffer()
        for sample in samples[..<count] { bytes.writeInteger(sample, endianness: .little) }
        try write(bytes, at: size)
        size += bytes.readableBytes
    }

    func finish() throws(IoTError) {
        try write(Self.header(size: size - Self.headerSize), at: 0)
    }

    /// An existing file must have the same format, and its sound must be at its end.
    private func check() throws(IoTError) {
        var start = [UInt8](repeating: 0, count: Self.headerSize)
        let count = start.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
        let expected = Array(Self.header(size: 0).readableBytesView)
        // Without the two sizes.
        guard count == Self.headerSize, start[..<4] == expected[..<4], start[8..<40] == expected[8..<40] else {
            throw IoTError(
                .fileFailed, "\(path) exists and is not a WAV file of 48 kHz, mono, 16 bits",
                remedy: "move it away, or choose another path")
        }
        // After a crash, the last sample may be half written.
        size = Self.headerSize + (size - Self.headerSize) / 2 * 2
    }

    private static let headerSize = 44

    private static func header(size: Int) -> ByteBuffer {
        var writer = WAVWriter()
        var header = writer.header(sampleRate: SpeechFormat.sampleRate, channels: 1)
        header.setInteger(UInt32(size + headerSize - 8), at: 4, endianness: .little)
        header.setInteger(UInt32(size), at: headerSize - 4, endianness: .little)
        return header
    }

    private func write(_ bytes: ByteBuffer, at offset: Int) throws(IoTError) {
        var written = 0
        while written < bytes.readableBytes {
            let count = bytes.withUnsafeReadableBytes {
                pwrite(file, $0.baseAddress.map { $0 + written }, $0.count - written, offset + written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(path, errno) }
            written += count
        }
    }

    private static func failure(_ path: String, _ reason: Int32) -> IoTError {
        IoTError(.fileFailed, "\(path) cannot be written: \(String(cString: strerror(reason)))")
    }
}
