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
    private let format: PictureFormat
    private let promise: EventLoopPromise<Snapshot>

    init(format: PictureFormat, promise: EventLoopPromise<Snapshot>) {
        self.format = format
        self.promise = promise
    }

    func take(_ picture: VideoPicture, report: (SinkReport) -> Void) -> Bool {
        do throws(IoTError) {
            let bytes = try format.encode(picture)
            promise.succeed(
                Snapshot(bytes: bytes, pts: picture.pts, width: picture.width, height: picture.height))
        } catch {
            promise.fail(error)
        }
        return false
    }

    func end(_ reason: IoTError?) {
        promise.fail(reason ?? IoTError(.channelDisconnected))
    }
}
