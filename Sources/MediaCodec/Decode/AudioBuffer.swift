public import NIOCore

/// Decoded audio: interleaved signed 16-bit little-endian samples.
public struct AudioBuffer: Sendable {
    /// The time of the first sample in µs on the source's clock.
    public var pts: Int64

    /// Samples per second and channel.
    public var sampleRate: Int
    public var channels: Int

    /// The loudspeakers of the channels, as in WAVE's `dwChannelMask`; 0 if unknown.
    public var channelMask: UInt64

    public var samples: ByteBuffer

    public init(pts: Int64, sampleRate: Int, channels: Int, channelMask: UInt64 = 0, samples: ByteBuffer) {
        self.pts = pts
        self.sampleRate = sampleRate
        self.channels = channels
        self.channelMask = channelMask
        self.samples = samples
    }

    /// Samples per channel.
    public var frameCount: Int {
        channels > 0 ? samples.readableBytes / (2 * channels) : 0
    }

    /// The duration in µs.
    public var duration: Int64 {
        sampleRate > 0 ? Int64(frameCount) * 1_000_000 / Int64(sampleRate) : 0
    }
}
