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
    /// The first payload type whose format can be read, else the first of all. `nil` if none has a name.
    package var codec: RTPCodec?
    /// As written in `a=control`; `nil` without it.
    package var control: String?
    /// Seen from the camera in ONVIF's back channels only; elsewhere cameras write anything.
    package var direction: Direction?
    /// `a=framerate` (RFC 8866 §6.13).
    package var frameRate: Double?
    /// Whether the transport is RTP over UDP or TCP, without encryption of its own.
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

    /// A track that the client sends to (ONVIF Streaming §5.3.1). Only responses to requests with `Require` have one.
    package var isBackChannel: Bool { direction == .sendOnly }

    /// The name for messages: `video H264`.
    package var name: String { codec.map { "\(medium) \($0.encodingName)" } ?? medium }
}
