public import IoTCore

/// A track of a camera or channel.
public struct TrackDescription: Codable, Hashable, Sendable {
    public var kind: MediaKind
    /// `h264`, `h265`, `aac`, `pcmu`, `pcma` or `opus`.
    public var codec: String
    /// Pixels; video only, `nil` while unknown.
    public var width: Int?
    public var height: Int?
    /// Frames per second; video only.
    public var frameRate: Double?
    /// Samples per second; audio only.
    public var sampleRate: Int?
    public var channels: Int?
    /// Measured bits per second.
    public var bitrate: Int?

    public init(
        kind: MediaKind, codec: String, width: Int? = nil, height: Int? = nil, frameRate: Double? = nil,
        sampleRate: Int? = nil, channels: Int? = nil, bitrate: Int? = nil
    ) {
        self.kind = kind
        self.codec = codec
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.sampleRate = sampleRate
        self.channels = channels
        self.bitrate = bitrate
    }

    public init(_ parameters: TrackParameters, bitrate: Int? = nil) {
        switch parameters {
        case .video(let video):
            self.init(
                kind: .video, codec: video.codec.rawValue, width: video.width > 0 ? video.width : nil,
                height: video.height > 0 ? video.height : nil,
                frameRate: video.frameRate > 0 ? video.frameRate : nil, bitrate: bitrate)
        case .audio(let audio):
            self.init(
                kind: .audio, codec: audio.codec.rawValue, sampleRate: audio.sampleRate, channels: audio.channels,
                bitrate: bitrate)
        }
    }
}
