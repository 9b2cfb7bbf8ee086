public import IoTCore
public import IoTLink

/// The current state of a camera.
public struct CameraSnapshot: Sendable {
    /// The state of the camera's source.
    public enum SourceState: Sendable {
        case connecting
        case ready
        case failed(IoTError)

        public var name: String {
            switch self {
            case .connecting: "connecting"
            case .ready: "ready"
            case .failed: "failed"
            }
        }

        /// `ProReadonly.sourceFailure`: the error's number and the catalogue's message. The error's own message may
        /// contain the source's address or path, which not every viewer may see.
        var failureValue: JSONValue {
            guard case .failed(let error) = self else { return ["code": 0, "reason": ""] }
            return ["code": .integer(Int64(error.code.rawValue)), "reason": .string(error.code.message)]
        }
    }

    /// The live call that the camera is in.
    public struct Call: Sendable, Equatable {
        /// The call's session.
        public var id: String
        public var user: Principal
        /// Whether nobody has accepted it yet.
        public var isRinging: Bool
    }

    public var name: String
    public var device: DeviceID
    /// Without a password.
    public var url: String
    public var source: SourceState
    public var isOn: Bool
    /// When the source's state changed or the camera was switched on or off: ms since 1970.
    public var since: Int64
    public var viewers: Int
    public var maximumViewers: Int
    /// Whether people can talk through the camera, and how many do: 0 or 1.
    public var hasLoudspeaker = false
    public var talkers = 0
    public var call: Call?

    /// `ProReadonly.liveCalls`.
    var liveCalls: String {
        guard shown.live != .none else { return "none" }
        guard let call else { return "free" }
        return call.isRinging ? "ringing" : "busy"
    }
    public var media: CameraMeasurement
    /// The settings that are shown.
    public var shown: CameraSettings
    /// The number of pictures that the source dropped since the start (`SourceReader.droppedPictures`).
    public var droppedPictures: Int
}

/// A camera's tracks as measured from their frames.
public struct CameraMeasurement: Sendable, Equatable {
    /// A video track's codec and measurements.
    public struct Video: Sendable, Equatable {
        public var codec: VideoCodec
        public var width: Int
        public var height: Int
        /// Frames per second.
        public var frameRate: Double
        /// Bits per second.
        public var bitrate: Int
    }

    /// An audio track's codec and measurements.
    public struct Audio: Sendable, Equatable {
        public var codec: AudioCodec
        public var sampleRate: Int
        public var channels: Int
        /// Bits per second.
        public var bitrate: Int
    }

    public var video: Video?
    public var audio: Audio?
}

extension CameraSnapshot.Call {
    init(_ call: LiveCall) {
        self.init(id: call.session, user: call.caller, isRinging: call.isRinging)
    }
}
