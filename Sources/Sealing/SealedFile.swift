import Crypto
import IoTCore
package import NIOCore

/// A file that is encrypted while it grows, without I/O: `docs/recording.md`, "Encryption", describes its format. Places
/// in the *contents* are those of the file that it would be without encryption.
///
/// Each write is a record at the end of the file. One short write over earlier contents is possible: it is in a slot
/// before the first record, and like any write over something it needs no space.
package struct SealedFile: Sendable {
    private static let magic = Array("iotvsea1".utf8)
    private static let saltSize = 32
    /// Magic, key id, salt.
    private static let identitySize = magic.count + SealingKeyID.byteCount + saltSize
    private static let slotPlace = identitySize
    /// The longest contents of the slot.
    private static let slotContents = 48
    private static let slotSize = SealedRecord.headSize + slotContents + SealedRecord.tagSize
    /// The bytes before the first record.
    package static let headSize = identitySize + slotSize

    private let salt: [UInt8]
    private let keyID: SealingKeyID
    private let key: SymmetricKey
    private var records: [(place: Int64, record: SealedRecord)] = []
    private var slot: (offset: Int64, contents: ByteBuffer)?

    /// The size of the contents.
    package private(set) var size: Int64 = 0
    /// Of the head and all whole records.
    package private(set) var storedSize = Int64(headSize)

    /// A new file.
    package init(key: SealingKey) {
        var generator = SystemRandomNumberGenerator()
        salt = (0..<Self.saltSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        keyID = key.id
        self.key = key.fileKey(salt: salt)
    }

    package enum Opening: Sendable {
        /// Not encrypted.
        case plain
        case sealed(SealedFile)
        /// It needs a key that is not there.
        case keyMissing(SealingKeyID)
    }

    /// - Parameter head: the first `headSize` bytes of a file, or all if it is shorter.
    package static func open(head: ByteBuffer, keys: [SealingKey]) -> Opening {
        var head = head
        guard head.readBytes(length: magic.count) == magic,
            let id = head.readBytes(length: SealingKeyID.byteCount), let salt = head.readBytes(length: saltSize),
            let slot = head.readSlice(length: slotSize)
        else { return .plain }
        let keyID = SealingKeyID(bytes: id)
        guard let key = keys.first(where: { $0.id == keyID }) else { return .keyMissing(keyID) }
        return .sealed(SealedFile(salt: salt, key: key, slot: slot))
    }

    private init(salt: [UInt8], key: SealingKey, slot stored: ByteBuffer) {
        self.salt = salt
        keyID = key.id
        self.key = key.fileKey(salt: salt)
        slot = Self.opened(stored, with: self.key)
    }

    /// What is written at the begin of a new file, before the first record.
    package var head: ByteBuffer {
        var head = ByteBuffer(bytes: Self.magic + keyID.bytes + salt)
        head.writeRepeatingByte(0, count: Self.slotSize)
        return head
    }

    // MARK: Records

    /// The head of the next record in the file.
    package var nextHead: Range<Int64> { storedSize..<storedSize + Int64(SealedRecord.headSize) }

    /// Takes the next record's head, in the order of the file.
    ///
    /// - Parameter fileSize: of the file.
    /// - Returns: whether it is a head of a record that is whole, as far as the file's size shows.
    package mutating func take(head: ByteBuffer, fileSize: Int64) -> Bool {
        guard let record = SealedRecord(head: head), record.offset == size,
            storedSize + Int64(record.storedSize) <= fileSize
        else { return false }
        add(record)
        return true
    }

    private mutating func add(_ record: SealedRecord) {
        records.append((storedSize, record))
        storedSize += Int64(record.storedSize)
        size = record.end
    }

    /// The next record, which is written at `storedSize`. Call `wrote` when it is there.
    package func sealed(_ contents: ByteBuffer) -> (record: Appended, bytes: ByteBuffer) {
        let record = SealedRecord(offset: size, length: contents.readableBytes)
        return (Appended(record: record), record.sealed(contents, with: key))
    }

    package struct Appended: Sendable {
        fileprivate let record: SealedRecord
    }

    package mutating func wrote(_ appended: Appended) { add(appended.record) }

    /// The longest contents of one record.
    package static var longestRecord: Int { SealedRecord.longest }

    // MARK: The slot

    /// The bytes of the slot for a write over earlier contents.
    ///
    /// - Returns: `nil` if the write is too long, or not within the contents.
    package func sealedSlot(_ contents: ByteBuffer, at offset: Int64) -> (place: Int64, bytes: ByteBuffer)? {
        let count = contents.readableBytes
        guard (1...Self.slotContents).contains(count), offset >= 0, offset <= size - Int64(count) else { return nil }
        return (
            Int64(Self.slotPlace), SealedRecord(offset: offset, length: count).sealed(contents, with: key)
        )
    }

    package mutating func wroteSlot(_ contents: ByteBuffer, at offset: Int64) { slot = (offset, contents) }

    /// - Returns: `nil` if it is empty, or was written only in part.
    private static func opened(_ stored: ByteBuffer, with key: SymmetricKey) -> (offset: Int64, contents: ByteBuffer)? {
        var stored = stored
        guard let head = stored.readSlice(length: SealedRecord.headSize), let record = SealedRecord(head: head),
            record.length <= slotContents, let contents = record.opened(0..<1, stored, with: key)
        else { return nil }
        return (record.offset, contents)
    }

    // MARK: Reading

    /// Pieces of one record that are read together.
    package struct Part: Sendable {
        fileprivate let record: SealedRecord
        fileprivate let pieces: Range<Int>
        /// In the file.
        package let place: Int64
        package let count: Int
        /// In the contents.
        fileprivate let range: Range<Int64>

        /// Of the first byte, in the contents.
        package var offset: Int64 { range.lowerBound }
    }

    /// What must be read for a range of the contents, in its order.
    package func parts(of range: Range<Int64>) -> [Part] {
        let range = range.clamped(to: 0..<size)
        guard !range.isEmpty else { return [] }
        return records[firstRecord(after: range.lowerBound)...].prefix { $0.record.offset < range.upperBound }.map {
            place, record in
            let part = range.clamped(to: record.offset..<record.end)
            let first = Int(part.lowerBound - record.offset) / SealedRecord.pieceSize
            let last = Int(part.upperBound - record.offset - 1) / SealedRecord.pieceSize
            let start = record.place(of: first)
            let end = record.place(of: last) + record.length(of: last) + SealedRecord.tagSize
            return Part(
                record: record, pieces: first..<last + 1, place: place + Int64(start), count: end - start, range: part)
        }
    }

    /// The first record that ends after a place. Some record does.
    private func firstRecord(after place: Int64) -> Int {
        var low = 0
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].record.end <= place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The contents of a part.
    ///
    /// - Returns: `nil` if the file was changed or damaged there.
    package func opened(_ part: Part, _ stored: ByteBuffer) -> ByteBuffer? {
        guard var contents = part.record.opened(part.pieces, stored, with: key) else { return nil }
        let start = part.record.offset + Int64(part.pieces.lowerBound * SealedRecord.pieceSize)
        contents.moveReaderIndex(forwardBy: Int(part.range.lowerBound - start))
        guard var slice = contents.readSlice(length: part.range.count) else { return nil }
        if let slot {
            let common = part.range.clamped(to: slot.offset..<slot.offset + Int64(slot.contents.readableBytes))
            let from = Int(common.lowerBound - slot.offset)
            if !common.isEmpty, let bytes = slot.contents.getSlice(at: from, length: common.count) {
                slice.setBuffer(bytes, at: slice.readerIndex + Int(common.lowerBound - part.range.lowerBound))
            }
        }
        return slice
    }

    /// All of a record's contents, to find out whether it is whole.
    package var wholeParts: [Part] { records.flatMap { parts(of: $0.record.offset..<$0.record.end) } }

    // MARK: Truncation

    /// Forgets the records after a place in the contents.
    ///
    /// - Returns: the range of the contents that must be written again, because its record also has what is cut off.
    package mutating func truncate(to size: Int64) -> Range<Int64>? {
        guard size < self.size else { return nil }
        let index = firstRecord(after: size)
        let (place, record) = records[index]
        records.removeSubrange(index...)
        storedSize = place
        self.size = record.offset
        return record.offset < size ? record.offset..<size : nil
    }
}
