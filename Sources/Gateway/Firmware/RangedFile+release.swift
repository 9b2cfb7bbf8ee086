import IoTCore
import LinkHub
import NIOCore

extension RangedFile {
    /// The file of a release.
    init(_ release: ReleaseDescription, in store: ReleaseStore, _ part: QuotaPart) {
        let id = release.id
        self.init(
            name: "\(release.model)-\(release.version)", contentType: "application/octet-stream", size: release.size,
            tag: release.sha256, part: part
        ) { offset, count in ByteBuffer(bytes: try await store.read(id, at: offset, count: count)) }
    }
}
