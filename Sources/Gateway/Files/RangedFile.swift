package import NIOCore

/// A file that is sent whole or in part. Its bytes do not change.
package struct RangedFile: Sendable {
    static let recordingType = "video/mp4"

    /// A name for a downloaded file.
    package let name: String
    package let contentType: String
    package let size: Int64
    /// An entity tag without quotes (RFC 9110 §8.8.3): two files with the same tag have the same bytes.
    package let tag: String
    private let part: QuotaPart?
    private let read: @Sendable (_ offset: Int64, _ count: Int) async throws -> ByteBuffer

    package init(
        name: String, contentType: String, size: Int64, tag: String, part: QuotaPart? = nil,
        read: @escaping @Sendable (_ offset: Int64, _ count: Int) async throws -> ByteBuffer
    ) {
        self.name = name
        self.contentType = contentType
        self.size = size
        self.tag = tag
        self.part = part
        self.read = read
    }

    package func body(_ range: Range<Int64>) -> MediaBody { RangedBody(range, read).body(contentType, part) }
}
