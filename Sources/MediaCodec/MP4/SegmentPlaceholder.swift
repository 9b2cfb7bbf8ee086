package import NIOCore

/// The box after `ftyp` that becomes the head of an `mdat` when a segment is closed.
package enum SegmentPlaceholder {
    /// Puts the placeholder back into a part of a file that was growing when its reader opened it.
    ///
    /// - Parameter offset: the place of the bytes in the file.
    package static func restore(in bytes: inout ByteBuffer, at offset: Int64) {
        let place =
            SegmentHeader.placeholderOffset..<SegmentHeader.placeholderOffset
            + Int64(SegmentHeader.placeholderBytes)
        let common = (offset..<offset + Int64(bytes.readableBytes)).clamped(to: place)
        guard !common.isEmpty else { return }
        var placeholder = ByteBuffer()
        SegmentHeader.writePlaceholder(to: &placeholder)
        let part = placeholder.readableBytesView.dropFirst(Int(common.lowerBound - place.lowerBound))
            .prefix(common.count)
        bytes.setBytes(part, at: bytes.readerIndex + Int(common.lowerBound - offset))
    }
}
