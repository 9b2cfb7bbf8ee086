import NIOCore

/// The header extensions of one outgoing packet. They are written without an intermediate list.
@usableFromInline
package struct OutgoingHeaderExtension: Sendable {
    @usableFromInline package let identifiers: HeaderExtensionIdentifiers

    /// The section's MID in UTF-8; empty when it is not sent.
    @usableFromInline package var mid: [UInt8] = []
    @usableFromInline package var absoluteSendTime: UInt32?
    @usableFromInline package var transportSequenceNumber: UInt16?
    @usableFromInline package var playoutDelay: UInt32?
    @usableFromInline package var videoOrientation: UInt8?

    @inlinable
    package init(_ identifiers: HeaderExtensionIdentifiers) {
        self.identifiers = identifiers
    }

    private static let oneByteProfile: UInt16 = 0xBEDE
    private static let twoByteProfile: UInt16 = 0x1000

    /// Appends the extension with its header.
    ///
    /// - Returns: false when there is no extension to write; nothing is written then.
    func write(into buffer: inout ByteBuffer) -> Bool {
        let midIdentifier = mid.isEmpty ? nil : identifiers.mid
        let sendTimeIdentifier = absoluteSendTime == nil ? nil : identifiers.absoluteSendTime
        let sequenceIdentifier = transportSequenceNumber == nil ? nil : identifiers.transportSequenceNumber
        let delayIdentifier = playoutDelay == nil ? nil : identifiers.playoutDelay
        let orientationIdentifier = videoOrientation == nil ? nil : identifiers.videoOrientation
        let highest = max(
            max(midIdentifier ?? 0, sendTimeIdentifier ?? 0),
            max(sequenceIdentifier ?? 0, max(delayIdentifier ?? 0, orientationIdentifier ?? 0)))
        guard highest > 0 else { return false }
        // RFC 8285 §4.2: the one-byte form has four bits each for identifier and length.
        let isTwoByte = highest > 14 || midIdentifier != nil && mid.count > 16

        let start = buffer.writerIndex
        buffer.writeMultipleIntegers(isTwoByte ? Self.twoByteProfile : Self.oneByteProfile, UInt16(0))
        func writeHead(_ identifier: UInt8, length: Int) {
            if isTwoByte {
                buffer.writeMultipleIntegers(identifier, UInt8(truncatingIfNeeded: length))
            } else {
                buffer.writeInteger(identifier << 4 | UInt8(truncatingIfNeeded: length - 1))
            }
        }
        func write24(_ value: UInt32) {
            buffer.writeMultipleIntegers(
                UInt8(truncatingIfNeeded: value >> 16), UInt16(truncatingIfNeeded: value))
        }
        if let sequenceIdentifier, let transportSequenceNumber {
            writeHead(sequenceIdentifier, length: 2)
            buffer.writeInteger(transportSequenceNumber)
        }
        if let sendTimeIdentifier, let absoluteSendTime {
            writeHead(sendTimeIdentifier, length: 3)
            write24(absoluteSendTime)
        }
        if let delayIdentifier, let playoutDelay {
            writeHead(delayIdentifier, length: 3)
            write24(playoutDelay)
        }
        if let orientationIdentifier, let videoOrientation {
            writeHead(orientationIdentifier, length: 1)
            buffer.writeInteger(videoOrientation)
        }
        if let midIdentifier {
            writeHead(midIdentifier, length: mid.count)
            buffer.writeBytes(mid)
        }
        let length = buffer.writerIndex - start - 4
        let padding = (4 - length % 4) % 4
        buffer.writeRepeatingByte(0, count: padding)
        buffer.setInteger(UInt16(truncatingIfNeeded: (length + padding) / 4), at: start + 2)
        return true
    }
}
