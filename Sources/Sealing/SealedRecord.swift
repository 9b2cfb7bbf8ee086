import Crypto
import Foundation
import NIOCore

/// What one write added to a sealed file: a head, and the bytes in pieces, of which each is sealed with AES-256-GCM. A
/// record has a key of its own from 128 random bits in its head, so the pieces' numbers are their nonces, and no nonce
/// is used twice with a key, whatever happens between two writes.
struct SealedRecord: Sendable, Hashable {
    /// 64-bit place in the contents, 32-bit length, 32 bits of zeros, 128 random bits.
    static let headSize = 32
    /// The contents of a piece; the last one of a record is shorter.
    static let pieceSize = 65_536
    static let tagSize = 16
    /// The longest contents of a record.
    static let longest = 1 << 28

    /// The record's first byte in the contents.
    let offset: Int64
    /// Of the contents.
    let length: Int
    let salt: [UInt8]

    var end: Int64 { offset + Int64(length) }

    init(offset: Int64, length: Int) {
        self.offset = offset
        self.length = length
        var generator = SystemRandomNumberGenerator()
        salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// - Returns: `nil` for bytes that are no head.
    init?(head: ByteBuffer) {
        var head = head
        guard let offset: Int64 = head.readInteger(), let length: UInt32 = head.readInteger(),
            head.readInteger(as: UInt32.self) == 0, let salt = head.readBytes(length: 16),
            offset >= 0, (1...UInt32(Self.longest)).contains(length), offset <= Int64.max / 2
        else { return nil }
        self.offset = offset
        self.length = Int(length)
        self.salt = salt
    }

    var head: [UInt8] {
        var head = ByteBuffer()
        head.writeInteger(offset)
        head.writeInteger(UInt32(length))
        head.writeInteger(UInt32(0))
        head.writeBytes(salt)
        return Array(head.readableBytesView)
    }

    var pieceCount: Int { (length + Self.pieceSize - 1) / Self.pieceSize }

    /// Of the whole record in the file.
    var storedSize: Int { Self.headSize + length + pieceCount * Self.tagSize }

    /// Where a piece begins, from the record's first byte in the file.
    func place(of piece: Int) -> Int { Self.headSize + piece * (Self.pieceSize + Self.tagSize) }

    /// The length of a piece's contents.
    func length(of piece: Int) -> Int { min(Self.pieceSize, length - piece * Self.pieceSize) }

    /// The whole record as it is in the file.
    ///
    /// - Parameter contents: of `length` bytes.
    func sealed(_ contents: ByteBuffer, with fileKey: SymmetricKey) -> ByteBuffer {
        let key = key(fileKey)
        let head = head
        var result = ByteBufferAllocator().buffer(capacity: storedSize)
        result.writeBytes(head)
        contents.withUnsafeReadableBytes { bytes in
            for piece in 0..<pieceCount {
                let start = piece * Self.pieceSize
                let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length(of: piece)])
                // It fails only for a key or a nonce of a wrong size.
                guard let box = try? AES.GCM.seal(part, using: key, nonce: nonce(piece), authenticating: head) else {
                    preconditionFailure("AES-GCM needs a key of 256 bits and a nonce of 96")
                }
                result.writeBytes(box.ciphertext)
                result.writeBytes(box.tag)
            }
        }
        return result
    }

    /// The contents of pieces that follow each other.
    ///
    /// - Parameter stored: the whole pieces as they are in the file.
    /// - Returns: `nil` if they were changed or damaged.
    func opened(_ pieces: Range<Int>, _ stored: ByteBuffer, with fileKey: SymmetricKey) -> ByteBuffer? {
        let key = key(fileKey)
        let head = head
        var result = ByteBufferAllocator().buffer(capacity: stored.readableBytes)
        return stored.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            for piece in pieces {
                let length = length(of: piece)
                guard rest.count >= length + Self.tagSize else { return nil }
                let text = UnsafeRawBufferPointer(rebasing: rest.prefix(length))
                let tag = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length).prefix(Self.tagSize))
                guard let box = try? AES.GCM.SealedBox(nonce: nonce(piece), ciphertext: text, tag: tag),
                    let contents = try? AES.GCM.open(box, using: key, authenticating: head)
                else { return nil }
                result.writeBytes(contents)
                rest = rest.dropFirst(length + Self.tagSize)
            }
            return result
        }
    }

    private func key(_ fileKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: fileKey, salt: salt, info: Array("iotvideod sealed record 1".utf8), outputByteCount: 32)
    }

    private func nonce(_ piece: Int) -> AES.GCM.Nonce {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: piece >> (24 - 8 * $0)) }
        guard let nonce = try? AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 8) + number) else {
            preconditionFailure("a nonce has 12 bytes")
        }
        return nonce
    }
}
