import IoTCore
import MediaCodec
public import NIOCore

/// A picture's file format.
public enum PictureFormat: String, Sendable, CaseIterable {
    case jpeg
    case png

    public var contentType: String { "image/\(rawValue)" }

    func encode(_ picture: VideoPicture) throws(IoTError) -> ByteBuffer {
        switch self {
        case .jpeg: try PictureEncoder.jpeg(picture)
        case .png: try PictureEncoder.png(picture)
        }
    }
}

/// One picture, encoded.
public struct Snapshot: Sendable {
    public let bytes: ByteBuffer
    /// The frame's own time on its track's clock, µs.
    public let pts: Int64
    public let width: Int
    public let height: Int
}

/// Takes one picture.
final class SnapshotSink: PictureSink {
    private let wish: SnapshotWish

    init(_ wish: SnapshotWish) {
        self.wish = wish
    }

    var isWanted: Bool { wish.isOpen }

    func take(_ picture: VideoPicture, report: (SinkReport) -> Void) -> Bool {
        guard isWanted else { return false }
        do throws(IoTError) {
            let bytes = try wish.format.encode(picture)
            wish.end(
                .success(Snapshot(bytes: bytes, pts: picture.pts, width: picture.width, height: picture.height)))
        } catch {
            wish.end(.failure(error))
        }
        return false
    }

    func end(_ reason: IoTError?) {
        wish.end(.failure(reason ?? IoTError(.channelDisconnected)))
    }
}
