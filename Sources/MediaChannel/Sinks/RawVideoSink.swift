import Foundation
import IoTCore
import MediaCodec
import NIOCore

/// Writes each decoded picture, once and in order, as YUV4MPEG2.
final class RawVideoSink: PictureSink {
    /// How long a reader may take nothing before frames are dropped.
    static let patience: TimeInterval = 0.5

    /// Bytes that may wait for the reader.
    static let queueLimit = 24 << 20

    private let stream: ChunkStream
    private var writer: Y4MWriter
    private let frameRate: Double
    private var remaining: Int?
    private var size: (width: Int, height: Int)?

    /// `frames`: how many to write; `nil` for all. `frameRate` is what the header says; 0 when unknown.
    init(frames: Int?, frameRate: Double, stream: ChunkStream) {
        remaining = frames
        self.frameRate = frameRate
        self.stream = stream
        writer = Y4MWriter()
    }

    func take(_ picture: VideoPicture, report: (SinkReport) -> Void) -> Bool {
        if let size, size != (picture.width, picture.height) {
            stream.fail(
                IoTError(
                    .videoSizeChanged,
                    "the picture changed from \(size.width)x\(size.height) to \(picture.width)x\(picture.height)"))
            return false
        }
        do throws(IoTError) {
            var chunk = ByteBuffer()
            if size == nil {
                chunk = writer.header(for: picture, frameRate: Self.fraction(frameRate))
                size = (picture.width, picture.height)
            }
            var frame = try writer.frame(picture)
            chunk.writeBuffer(&frame)
            switch stream.write(chunk, patience: Self.patience) {
            case .written: break
            case .dropped:
                report(.slowReader(frames: 1))
                return true
            case .closed: return false
            }
        } catch {
            stream.fail(error)
            return false
        }
        guard let left = remaining else { return true }
        remaining = left - 1
        guard left <= 1 else { return true }
        stream.finish()
        return false
    }

    func end(_ reason: IoTError?) {
        if let reason { stream.fail(reason) } else { stream.finish() }
    }

    /// A rate as Y4M wants it; 25 when unknown, since the format has no way to say so.
    static func fraction(_ rate: Double) -> (numerator: Int, denominator: Int) {
        guard rate > 0, rate.isFinite else { return (25, 1) }
        for denominator in [1, 1001] {
            let numerator = rate * Double(denominator)
            if abs(numerator - numerator.rounded()) < 0.01 { return (Int(numerator.rounded()), denominator) }
        }
        return (Int((rate * 1000).rounded()), 1000)
    }
}
