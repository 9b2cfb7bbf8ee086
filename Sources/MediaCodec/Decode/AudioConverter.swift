import CFFmpeg
public import IoTCore
import NIOCore

/// Converts decoded audio to a fixed sample rate and number of channels: for example 5.1 to stereo or mono, 48 kHz to 8
/// kHz.
///
/// The input format may change at any time. Not Sendable.
public final class AudioConverter {
    public let sampleRate: Int
    public let channels: Int
    private var converter: SampleConverter?
    private var nextPTS: Int64 = 0

    /// - Parameters:
    ///   - sampleRate: 1 to 768,000 samples per second.
    ///   - channels: 1 to 8.
    public init(sampleRate: Int, channels: Int) throws(IoTError) {
        guard (1...768_000).contains(sampleRate), (1...8).contains(channels) else {
            throw IoTError(.invalidParameter, "audio can have 1 to 768,000 samples per second and 1 to 8 channels")
        }
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Converts a buffer. Resampling holds back a few samples until the next call or `flush()`.
    public func convert(_ buffer: AudioBuffer) throws(IoTError) -> AudioBuffer {
        let input = SampleConverter.Format(
            sampleFormat: AV_SAMPLE_FMT_S16, sampleRate: buffer.sampleRate, channels: buffer.channels,
            channelMask: buffer.channelMask)
        let converter: SampleConverter
        if let current = self.converter, current.input == input {
            converter = current
        } else {
            let output = SampleConverter.Format(
                sampleFormat: AV_SAMPLE_FMT_S16, sampleRate: sampleRate, channels: channels, channelMask: 0)
            converter = try SampleConverter(from: input, to: output)
            self.converter = converter
        }
        var samples = ByteBuffer()
        let source = Array(buffer.samples.readableBytesView)
        let delay = converter.delay
        _ = try source.withUnsafeBufferPointer { bytes throws(IoTError) -> Int in
            var plane: UnsafePointer<UInt8>? = bytes.baseAddress
            return try converter.convert(&plane, count: buffer.frameCount, into: &samples)
        }
        let result = AudioBuffer(
            pts: saturating(buffer.pts, -delay), sampleRate: sampleRate, channels: channels, samples: samples)
        nextPTS = saturating(result.pts, result.duration)
        return result
    }

    /// The samples that resampling held back; nil if there are none.
    public func flush() throws(IoTError) -> AudioBuffer? {
        guard let converter else { return nil }
        var samples = ByteBuffer()
        let count = try converter.convert(nil, count: 0, into: &samples)
        self.converter = nil
        guard count > 0 else { return nil }
        return AudioBuffer(pts: nextPTS, sampleRate: sampleRate, channels: channels, samples: samples)
    }
}
