public import IoTCore

/// A camera as it is now.
public struct CameraSnapshot: Sendable {
    /// What the camera's source is doing.
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

        /// `ProReadonly.sourceFailure`: the error's number and the catalogue's words for it. What the error itself says
        /// may name the source's address or path, which is not for everybody who may view the camera.
        var failureValue: JSONValue {
            guard case .failed(let error) = self else { return ["code": 0, "reason": ""] }
            return ["code": .integer(Int64(error.code.rawValue)), "reason": .string(error.code.message)]
        }
    }

    public var name: String
    public var device: DeviceID
    /// Without a password.
    public var url: String
    public var source: SourceState
    public var isOn: Bool
    /// When the source came into its state, or the camera was switched: ms since 1970.
    public var since: Int64
    public var viewers: Int
    public var maximumViewers: Int
    public var media: CameraMeasurement
    /// Those of its settings that are shown.
    public var shown: CameraSettings
}

/// A camera's tracks as measured from their frames.
public struct CameraMeasurement: Sendable, Equatable {
    /// A track's codec and what was measured of it.
    public struct Video: Sendable, Equatable {
        public var codec: VideoCodec
        public var width: Int
        public var height: Int
        /// Frames a second.
        public var frameRate: Double
        /// Bits a second.
        public var bitrate: Int
    }

    /// A track's codec and what was measured of it.
    public struct Audio: Sendable, Equatable {
        public var codec: AudioCodec
        public var sampleRate: Int
        public var channels: Int
        /// Bits a second.
        public var bitrate: Int
    }

    public var video: Video?
    public var audio: Audio?
}
