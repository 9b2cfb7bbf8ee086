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
    /// All codecs of the section, in its order.
    package var codecs: [RTPCodec]
    /// The value of `a=control`; `nil` without it.
    package var control: String?
    /// Read it with `StreamDescription.backChannels`, because cameras do not agree on its meaning.
    package var direction: Direction?
    /// `a=framerate` (RFC 8866 §6.13).
    package var frameRate: Double?
    /// Whether the transport is RTP without encryption, over UDP or TCP.
    package var isPlainRTP: Bool

    package init(
        medium: String, codec: RTPCodec?, codecs: [RTPCodec]? = nil, control: String?, direction: Direction? = nil,
        frameRate: Double? = nil,
        isPlainRTP: Bool = true
    ) {
        self.medium = medium
        self.codec = codec
        self.codecs = codecs ?? codec.map { [$0] } ?? []
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

    /// The name for messages: `video H264`.
    package var name: String { codec.map { "\(medium) \($0.encodingName)" } ?? medium }
}
