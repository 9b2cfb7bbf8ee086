package import IoTCore
package import RTP

/// One media section of a camera's session description.
package struct TrackDescription: Sendable, Hashable {
    package enum Direction: String, Sendable, Hashable {
        case sendReceive = "sendrecv"
        case sendOnly = "sendonly"
        case receiveOnly = "recvonly"
        case inactive
    }

    /// `video`, `audio`, `application` or another word.
    package var medium: String
    /// The first codec that is supported, or otherwise the first one. `nil` if none has a name.
    package var codec: RTPCodec?
    /// The value of `a=control`; `nil` without it.
    package var control: String?
    /// Reliable only for ONVIF's back channels.
    package var direction: Direction?
    /// `a=framerate` (RFC 8866 §6.13).
    package var frameRate: Double?
    /// Whether the transport is RTP without encryption, over UDP or TCP.
    package var isPlainRTP: Bool

    package init(
        medium: String, codec: RTPCodec?, control: String?, direction: Direction? = nil, frameRate: Double? = nil,
        isPlainRTP: Bool = true
    ) {
        self.medium = medium
        self.codec = codec
        self.control = control
        self.direction = direction
        self.frameRate = frameRate
        self.isPlainRTP = isPlainRTP
    }

    package var kind: MediaKind? {
        switch medium {
        case "video": .video
        case "audio": .audio
        default: nil
        }
    }

    /// Whether the client sends this track (ONVIF Streaming §5.3.1). Only responses to requests with `Require` list it.
    package var isBackChannel: Bool { direction == .sendOnly }

    /// The name for messages: `video H264`.
    package var name: String { codec.map { "\(medium) \($0.encodingName)" } ?? medium }
}
