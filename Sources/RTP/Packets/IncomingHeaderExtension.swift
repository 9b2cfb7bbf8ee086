public import NIOCore

/// The header extensions of one received packet that the transport uses.
@usableFromInline
package struct IncomingHeaderExtension: Sendable, Hashable {
    /// The MID of the packet's media section; `nil` when the packet does not carry it.
    @usableFromInline package var mid: String?
    @usableFromInline package var transportSequenceNumber: UInt16?
    @usableFromInline package var playoutDelay: PlayoutDelay?
    @usableFromInline package var videoOrientation: UInt8?

    @inlinable
    package init(_ packet: RTPPacket, _ identifiers: HeaderExtensionIdentifiers) {
        packet.headerExtension?.forEachElement { identifier, data in
            let start = data.readerIndex
            switch identifier {
            case identifiers.transportSequenceNumber:
                transportSequenceNumber = data.getInteger(at: start, as: UInt16.self)
            case identifiers.videoOrientation:
                videoOrientation = data.getInteger(at: start, as: UInt8.self)
            case identifiers.mid:
                mid = data.getString(at: start, length: min(data.readableBytes, 32))
            case identifiers.playoutDelay:
                guard let high = data.getInteger(at: start, as: UInt8.self),
                    let low = data.getInteger(at: start + 1, as: UInt16.self)
                else { return }
                playoutDelay = PlayoutDelay(packed: UInt32(high) << 16 | UInt32(low))
            default: break
            }
        }
    }
}
