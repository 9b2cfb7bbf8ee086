package import IoTCore
package import MediaCodec
public import NIOCore

/// A picture's file format.
public enum PictureFormat: String, Sendable, CaseIterable {
    case jpeg
    case png

    public var contentType: String { "image/\(rawValue)" }

    func encode(_ picture: VideoPicture, _ bounds: PictureBounds?) throws(IoTError) -> Snapshot {
        switch self {
        case .jpeg: try Snapshot(jpegOf: picture, bounds)
        case .png:
            Snapshot(
                bytes: try PictureEncoder.png(picture), pts: picture.pts, width: picture.width, height: picture.height)
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

extension Snapshot {
    package init(jpegOf picture: VideoPicture, _ bounds: PictureBounds?) throws(IoTError) {
        let (width, height) = (picture.width, picture.height)
        let size = bounds?.fit(width: width, height: height) ?? (width: width, height: height)
        self.init(
            bytes: try PictureEncoder.jpeg(picture, size: size), pts: picture.pts, width: size.width,
            height: size.height)
    }
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
            wish.end(.success(try wish.format.encode(picture, wish.bounds)))
        } catch {
            wish.end(.failure(error))
        }
        return false
    }

    func end(_ reason: IoTError?) {
        wish.end(.failure(reason ?? IoTError(.channelDisconnected)))
    }
}
