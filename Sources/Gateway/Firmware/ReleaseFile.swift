import IoTCore
import LinkHub
import NIOCore
import Synchronization

/// A file that is sent whole or in part.
package protocol RangedFile: Sendable {
    /// A name for a downloaded file.
    var name: String { get }
    var size: Int64 { get }
    /// An entity tag without quotes (RFC 9110 §8.8.3): two files with the same tag have the same bytes.
    var tag: String { get }

    func body(_ range: Range<Int64>) -> MediaBody
}

extension RecordedFile: RangedFile {}

/// The file of a release.
package struct ReleaseFile: RangedFile {
    private static let chunkSize = 256 << 10

    package let name: String
    package let size: Int64
    package let tag: String
    private let part: QuotaPart?
    private let read: @Sendable (_ offset: Int64, _ count: Int) async throws -> [UInt8]

    package init(
        name: String, size: Int64, tag: String, part: QuotaPart? = nil,
        read: @escaping @Sendable (_ offset: Int64, _ count: Int) async throws -> [UInt8]
    ) {
        self.name = name
        self.size = size
        self.tag = tag
        self.part = part
        self.read = read
    }

    init(_ release: ReleaseDescription, in store: ReleaseStore, _ part: QuotaPart) {
        let id = release.id
        self.init(
            name: "\(release.model)-\(release.version)", size: release.size, tag: release.sha256, part: part
        ) { offset, count in try await store.read(id, at: offset, count: count) }
    }

    package func body(_ range: Range<Int64>) -> MediaBody {
        let rest = RestOfFile(range, read)
        var body = MediaBody(
            contentType: "application/octet-stream", contentLength: range.count,
            chunks: AsyncThrowingStream(unfolding: { try await rest.next(atMost: Self.chunkSize) }))
        body.part = part
        return body
    }
}

/// The bytes that a body has not sent yet.
private final class RestOfFile: Sendable {
    private let rest: Mutex<Range<Int64>>
    private let read: @Sendable (_ offset: Int64, _ count: Int) async throws -> [UInt8]

    init(
        _ range: Range<Int64>, _ read: @escaping @Sendable (_ offset: Int64, _ count: Int) async throws -> [UInt8]
    ) {
        rest = Mutex(range)
        self.read = read
    }

    /// `nil` at the end, and where the file ends too early: then the body is too short, and the connection ends.
    func next(atMost count: Int) async throws -> ByteBuffer? {
        let rest = rest.withLock { $0 }
        guard !rest.isEmpty else { return nil }
        let bytes = try await read(rest.lowerBound, min(count, rest.count))
        guard !bytes.isEmpty else { return nil }
        self.rest.withLock { $0 = rest.lowerBound + Int64(bytes.count)..<rest.upperBound }
        return ByteBuffer(bytes: bytes)
    }
}
