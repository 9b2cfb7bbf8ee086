public import NIOCore

/// Decoded sound: interleaved signed 16-bit samples in the machine's (little-endian) order.
public struct AudioBuffer: Sendable {
    /// Of the first sample: µs on the source's clock.
    public var pts: Int64

    /// Samples a second, a channel.
    public var sampleRate: Int
    public var channels: Int

    /// Which loudspeaker each channel is for, in the bits of WAVE's `dwChannelMask`; 0 where it is not told.
    public var channelMask: UInt64

    public var samples: ByteBuffer

    public init(pts: Int64, sampleRate: Int, channels: Int, channelMask: UInt64 = 0, samples: ByteBuffer) {
        self.pts = pts
        self.sampleRate = sampleRate
        self.channels = channels
        self.channelMask = channelMask
        self.samples = samples
    }

    /// Samples a channel.
    public var frameCount: Int {
        channels > 0 ? samples.readableBytes / (2 * channels) : 0
    }

    /// How long it sounds, µs.
    public var duration: Int64 {
        sampleRate > 0 ? Int64(frameCount) * 1_000_000 / Int64(sampleRate) : 0
    }
}
