import Foundation
import IoTCore
import NIOCore
import Sealing

/// An encrypted file of a recording disk.
struct SealedInput: ~Copyable {
    private let descriptor: Int32
    private let path: String
    private let file: SealedFile
    /// Whether the file ends in the middle of a record.
    let isCut: Bool

    /// - Throws: `.fileFailed`; `.invalidParameter` if it is not encrypted, or with another key.
    init(_ path: String, keys: [SealingKey]) throws {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw DescriptorWriting.failure("\(path) cannot be read") }
        do {
            (file, isCut) = try Self.read(descriptor, path, keys)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Of what was encrypted.
    var size: Int64 { file.size }

    /// At most `count` bytes.
    func read(at place: Int64, count: Int) throws -> [UInt8] {
        var result: [UInt8] = []
        for part in file.parts(of: place..<place + Int64(count)) {
            let stored = try Self.bytes(descriptor, path, part.place..<part.place + Int64(part.count))
            guard let contents = file.opened(part, stored) else {
                throw IoTError(
                    .fileFailed, "\(path) was damaged or changed at byte \(part.place)",
                    remedy: "use another copy of the file")
            }
            result += contents.readableBytesView
        }
        return result
    }

    private static func read(_ descriptor: Int32, _ path: String, _ keys: [SealingKey]) throws -> (
        SealedFile, isCut: Bool
    ) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw IoTError(.fileFailed, "\(path) is not a regular file")
        }
        let size = Int64(facts.st_size)
        switch SealedFile.open(head: try bytes(descriptor, path, 0..<Int64(SealedFile.headSize)), keys: keys) {
        case .plain:
            throw IoTError(.invalidParameter, "\(path) is not encrypted", remedy: "play it as it is")
        case .keyMissing(let id):
            throw IoTError(
                .invalidParameter, "\(path) is encrypted with the key \(id), which is none of these",
                remedy: "name its key with --key")
        case .sealed(var file):
            while file.nextHead.upperBound <= size {
                guard file.take(head: try bytes(descriptor, path, file.nextHead), fileSize: size) else { break }
            }
            return (file, file.storedSize != size)
        }
    }

    private static func bytes(_ descriptor: Int32, _ path: String, _ range: Range<Int64>) throws -> ByteBuffer {
        guard let bytes = OpenFile.read(descriptor, at: range.lowerBound, count: range.count) else {
            throw DescriptorWriting.failure("\(path) cannot be read")
        }
        return ByteBuffer(bytes: bytes)
    }
}
