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
