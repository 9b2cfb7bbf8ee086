import IoTCore
import MediaCodec
import NIOCore

/// Writes each decoded picture, once and in order, as YUV4MPEG2.
///
/// The format's header contains the frame rate, which a receiver may not know. In that case the first picture waits
/// for the second, and their distance gives the rate.
final class RawVideoSink: PictureSink {
    /// The limits of what waits for the reader: a second of 1080p30 (93 MB/s), or 5 s of small pictures.
    static let limits = SinkLimits(duration: 5_000_000, bytes: 96 << 20)

    private let stream: ChunkStream
    private var writer = Y4MWriter()
    private let frameRate: Double
    private var remaining: Int?
    private var size: (width: Int, height: Int)?
    private var waiting: VideoPicture?

    /// `frames`: how many pictures to write; `nil` for all. `frameRate`: 0 if unknown.
    init(frames: Int?, frameRate: Double, stream: ChunkStream) {
        remaining = frames
        self.frameRate = frameRate
        self.stream = stream
    }

    func take(_ picture: VideoPicture) -> Bool {
        if let first = waiting {
            waiting = nil
            let rate = picture.pts > first.pts ? 1_000_000 / Double(picture.pts - first.pts) : 0
            return write(first, rate: rate) && write(picture, rate: rate)
        }
        if size == nil, frameRate <= 0, remaining != 1 {
            waiting = picture
            return true
        }
        return write(picture, rate: frameRate)
    }

    func end(_ reason: IoTError?) {
        if let waiting { _ = write(waiting, rate: 0) }
        if let reason { stream.fail(reason) } else { stream.finish() }
    }

    private func write(_ picture: VideoPicture, rate: Double) -> Bool {
        if let size, size != (picture.width, picture.height) {
            stream.fail(
                IoTError(
                    .videoSizeChanged,
                    "the picture size changed from \(size.width)x\(size.height) to \(picture.width)x\(picture.height)"))
            return false
        }
        do throws(IoTError) {
            if size == nil {
                guard stream.write(writer.header(for: picture, frameRate: Self.fraction(rate))) else { return false }
                size = (picture.width, picture.height)
            }
            guard stream.write(try writer.frame(picture)) else { return false }
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

    /// The rate as a fraction, as Y4M requires; 25 if unknown, because the format cannot express that. A measured rate
    /// within 0.05 % of a whole rate is rounded to it, because RTP's clock rounds.
    static func fraction(_ rate: Double) -> (numerator: Int, denominator: Int) {
        guard rate > 0, rate < 10_000 else { return (25, 1) }
        for denominator in [1, 1001] {
            let numerator = rate * Double(denominator) / (denominator == 1 ? 1 : 1000)
            let whole = numerator.rounded()
            guard whole >= 1, abs(numerator - whole) < 0.0005 * whole else { continue }
            return denominator == 1 ? (Int(whole), 1) : (Int(whole) * 1000, 1001)
        }
        return (Int((rate * 1000).rounded()), 1000)
    }
}
