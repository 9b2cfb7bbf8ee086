public import NIOCore

/// The header extension of an RTP packet (RFC 3550 §5.3.1, RFC 8285).
public struct RTPHeaderExtension: Sendable {
    /// One extension element of RFC 8285.
    public struct Element: Sendable, Hashable {
        public var identifier: UInt8
        public var data: ByteBuffer

        public init(identifier: UInt8, data: ByteBuffer) {
            self.identifier = identifier
            self.data = data
        }
    }

    /// `0xBEDE` for one-byte elements, `0x1000`–`0x100F` for two-byte ones.
    public var profile: UInt16

    /// The extension without its four-byte header; a multiple of 32 bits.
    public var data: ByteBuffer

    @inlinable
    public init(profile: UInt16, data: ByteBuffer) {
        self.profile = profile
        self.data = data
    }

    /// The elements in order. Parsing stops at the first malformed element; the elements before it are kept (RFC 8285
    /// §4.2, §4.3).
    public var elements: [Element] {
        var elements: [Element] = []
        forEachElement { elements.append(Element(identifier: $0, data: $1)) }
        return elements
    }

    /// Calls `body` with the identifier and data of each element.
    @inlinable
    func forEachElement(_ body: (UInt8, ByteBuffer) -> Void) {
        let isTwoByte = profile & 0xFFF0 == 0x1000
        guard profile == 0xBEDE || isTwoByte else { return }
        var rest = data
        while let first = rest.readInteger(as: UInt8.self) {
            if first == 0 { continue }  // padding
            let identifier: UInt8
            let length: Int
            if isTwoByte {
                guard let second = rest.readInteger(as: UInt8.self) else { return }
                (identifier, length) = (first, Int(second))
            } else {
                // RFC 8285 §4.2: identifier 15 ends the list; the length field holds the length minus one.
                (identifier, length) = (first >> 4, Int(first & 0x0F) + 1)
                if identifier == 15 { return }
            }
            guard let data = rest.readSlice(length: length) else { return }
            body(identifier, data)
        }
    }

    /// Creates an extension in the one-byte form if all elements fit it, otherwise in the two-byte form. Elements with
    /// identifier 0 or 15, and elements longer than 255 bytes, are left out.
    public init(elements: [Element]) {
        let kept = elements.filter { $0.identifier != 0 && $0.identifier != 15 && $0.data.readableBytes <= 255 }
        let isOneByte = kept.allSatisfy { $0.identifier < 15 && (1...16).contains($0.data.readableBytes) }
        var data = ByteBuffer()
        for element in kept {
            let length = UInt8(truncatingIfNeeded: element.data.readableBytes)
            if isOneByte {
                data.writeInteger(element.identifier << 4 | (length - 1))
            } else {
                data.writeMultipleIntegers(element.identifier, length)
            }
            data.writeImmutableBuffer(element.data)
        }
        data.writeRepeatingByte(0, count: (4 - data.readableBytes % 4) % 4)
        self.init(profile: isOneByte ? 0xBEDE : 0x1000, data: data)
    }

    func write(into buffer: inout ByteBuffer) {
        let words = min((data.readableBytes + 3) / 4, Int(UInt16.max))
        buffer.writeMultipleIntegers(profile, UInt16(words))
        let kept = data.getSlice(at: data.readerIndex, length: min(data.readableBytes, words * 4)) ?? data
        buffer.writeImmutableBuffer(kept)
        buffer.writeRepeatingByte(0, count: words * 4 - kept.readableBytes)
    }
}
