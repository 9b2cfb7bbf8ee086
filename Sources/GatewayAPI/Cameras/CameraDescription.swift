public import IoTCore

/// A camera of this daemon, with measured values.
public struct CameraDescription: Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// The source is being opened for the first time, or after it was ready.
        case connecting
        /// Frames arrive.
        case ready
        /// The source cannot be opened or read. The daemon tries again.
        case failed
        /// The source is ready, but `Action.cameraOn` is 0.
        case off
    }

    public var name: String
    /// The device's id; `nil` until the hub has assigned one.
    public var device: String?
    /// The source URL, without its password.
    public var url: String
    public var state: State
    /// When this state began: ms since 1970.
    public var since: Int64
    /// Why the source last failed; only in the state `failed`.
    public var reason: APIError?
    /// Measured tracks; empty until the source has been opened once.
    public var tracks: [TrackDescription]
    /// Bits per second of all tracks, over the last 4 s; `nil` while unknown.
    public var bitrate: Int?
    public var viewers: Int
    public var viewerLimit: Int
    /// The account that is in a live call with the camera.
    public var caller: String?
    /// The id of the live call, and whether it rings until somebody at the camera answers it.
    public var call: String?
    public var ringing: Bool?
    /// What is recorded of it; `nil` if its setting `record` is `none`.
    public var recording: CameraRecordingState?
    /// The settings that responses include, such as the RTSP transport. They are encoded as members of this object.
    public var settings: CameraSettings

    public init(
        name: String, device: String?, url: String, state: State, since: Int64, reason: IoTError? = nil,
        tracks: [TrackDescription] = [], bitrate: Int? = nil, viewers: Int, viewerLimit: Int,
        caller: String? = nil, call: String? = nil, ringing: Bool? = nil, recording: CameraRecordingState? = nil,
        settings: CameraSettings = CameraSettings()
    ) {
        self.recording = recording
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
        self.caller = caller
        self.call = call
        self.ringing = ringing
        self.settings = settings
    }
}

extension CameraDescription: Codable {
    private static let shown = CameraKey.all.filter { $0.traits.contains(.shown) }

    private enum CodingKeys: String, CodingKey {
        case name, device, url, state, since, reason, tracks, bitrate, viewers, viewerLimit, caller, call, ringing
        case recording
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        device = try container.decodeIfPresent(String.self, forKey: .device)
        url = try container.decode(String.self, forKey: .url)
        state = try container.decode(State.self, forKey: .state)
        since = try container.decode(Int64.self, forKey: .since)
        reason = try container.decodeIfPresent(APIError.self, forKey: .reason)
        tracks = try container.decode([TrackDescription].self, forKey: .tracks)
        bitrate = try container.decodeIfPresent(Int.self, forKey: .bitrate)
        viewers = try container.decode(Int.self, forKey: .viewers)
        viewerLimit = try container.decode(Int.self, forKey: .viewerLimit)
        caller = try container.decodeIfPresent(String.self, forKey: .caller)
        call = try container.decodeIfPresent(String.self, forKey: .call)
        ringing = try container.decodeIfPresent(Bool.self, forKey: .ringing)
        recording = try container.decodeIfPresent(CameraRecordingState.self, forKey: .recording)
        settings = try CameraSettings(from: decoder, members: Self.shown, isWhole: false)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(device, forKey: .device)
        try container.encode(url, forKey: .url)
        try container.encode(state, forKey: .state)
        try container.encode(since, forKey: .since)
        try container.encodeIfPresent(reason, forKey: .reason)
        try container.encode(tracks, forKey: .tracks)
        try container.encodeIfPresent(bitrate, forKey: .bitrate)
        try container.encode(viewers, forKey: .viewers)
        try container.encode(viewerLimit, forKey: .viewerLimit)
        try container.encodeIfPresent(caller, forKey: .caller)
        try container.encodeIfPresent(call, forKey: .call)
        try container.encodeIfPresent(ringing, forKey: .ringing)
        try container.encodeIfPresent(recording, forKey: .recording)
        try settings.encode(to: encoder, members: Self.shown)
    }
}

/// `GET /v1/cameras`
public struct CameraList: Codable, Hashable, Sendable {
    public var cameras: [CameraDescription]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(cameras: [CameraDescription], next: String? = nil) {
        self.cameras = cameras
        self.next = next
    }

    public init(_ page: Page<CameraDescription>) {
        self.init(cameras: page.elements, next: page.next)
    }
}
