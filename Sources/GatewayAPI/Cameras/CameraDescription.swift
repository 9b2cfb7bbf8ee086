public import IoTCore

/// One configured camera, as measured.
public struct CameraDescription: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// The source is being opened, for the first time or again.
        case connecting
        /// Frames arrive.
        case ready
        /// The source cannot be opened or read; it is tried again.
        case failed
        /// Switched off by `Action.cameraOn` 0.
        case off
    }

    public var name: String
    /// The device's id; `nil` until the hub has given one.
    public var device: String?
    /// The source, without its password.
    public var url: String
    public var state: State
    /// Since when it is in this state: ms since 1970.
    public var since: Int64
    /// Why it failed, and the newest reason while it connects again.
    public var reason: APIError?
    /// Measured tracks; empty until the source was open once.
    public var tracks: [TrackDescription]
    /// Bits a second of all tracks, over the last seconds; `nil` while unknown.
    public var bitrate: Int?
    public var viewers: Int
    public var viewerLimit: Int
    /// How RTSP carries the media; `nil` for a file.
    public var transport: CameraRequest.Transport?

    public init(
        name: String, device: String?, url: String, state: State, since: Int64, reason: IoTError? = nil,
        tracks: [TrackDescription] = [], bitrate: Int? = nil, viewers: Int, viewerLimit: Int,
        transport: CameraRequest.Transport? = nil
    ) {
        self.name = name
        self.device = device
        self.url = url
        self.state = state
        self.since = since
        self.reason = reason.map(APIError.init)
        self.tracks = tracks
        self.bitrate = bitrate
        self.viewers = viewers
        self.viewerLimit = viewerLimit
        self.transport = transport
    }
}

/// `GET /v1/cameras`
public struct CameraList: Codable, Hashable, Sendable {
    public var cameras: [CameraDescription]
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(cameras: [CameraDescription], next: String? = nil) {
        self.cameras = cameras
        self.next = next
    }

    public init(_ page: Page<CameraDescription>) {
        self.init(cameras: page.elements, next: page.next)
    }
}
