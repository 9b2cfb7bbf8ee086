import Foundation
import TestSupport

/// What a disk was sent, from the log of `logged_disk.py`.
struct DiskLog {
    struct Entry {
        let offset: Int
        let bytes: Data
        let isFlush: Bool
        /// Where the entry ends in the log.
        let end: Int

        func apply(to image: inout Data) {
            if !isFlush { image.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        }

        /// The disk may have written it, or not, or a part of its sectors.
        func apply(to image: inout Data, with generator: inout SeededGenerator) {
            guard !isFlush else { return }
            let sectors = bytes.count / 512
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: break
            case 1: apply(to: &image)
            default:
                let count = Int.random(in: 0...sectors, using: &generator) * 512
                image.replaceSubrange(offset..<offset + count, with: bytes.prefix(count))
            }
        }
    }

    let entries: [Entry]
    let bytes: Int

    init(_ log: Data) throws {
        var entries: [Entry] = []
        var position = 0
        func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
            defer { position += MemoryLayout<Value>.size }
            return log[position..<position + MemoryLayout<Value>.size].enumerated().reduce(0) {
                $0 | Value($1.element) << ($1.offset * 8)
            }
        }
        while position + 12 <= log.count {
            let (offset, length) = (Int(integer(UInt64.self)), integer(UInt32.self))
            let isFlush = length == .max
            let size = isFlush ? 0 : Int(length)
            guard position + size <= log.count else { break }
            let bytes = log.subdata(in: position..<position + size)
            position += size
            entries.append(Entry(offset: offset, bytes: bytes, isFlush: isFlush, end: position))
        }
        self.entries = entries
        bytes = position
    }
}
