public import Foundation
public import IoTCore

/// `POST /v1/camera-tests`: a camera's source that is tried without being added.
public struct CameraTestRequest: APIRequestBody, Hashable {
    public static let members = ["url", "username", "password", "transport", "picture"]

    /// As of a `CameraRequest`.
    public var url: String
    public var username: String?
    public var password: String?
    public var transport: CameraRequest.Transport?
    /// Whether the answer holds a picture; not unless told.
    public var picture: Bool?

    public init(
        url: String, username: String? = nil, password: String? = nil, transport: CameraRequest.Transport? = nil,
        picture: Bool? = nil
    ) {
        self.url = url
        self.username = username
        self.password = password
        self.transport = transport
        self.picture = picture
    }

    /// As if a camera were added.
    public var camera: CameraRequest {
        CameraRequest(name: "test", url: url, username: username, password: password, transport: transport)
    }
}

/// What was found at the source.
public struct CameraTestReport: Codable, Hashable, Sendable {
    /// Without its password.
    public var url: String
    public var tracks: [TestedTrack]
    /// What the source has and iotvideod does not carry: `audio mp3`.
    public var unsupportedTracks: [String]
    /// How many seconds of the source's own clock were measured.
    public var measuredSeconds: Double
    public var picture: TestedPicture?

    public init(
        url: String, tracks: [TestedTrack], unsupportedTracks: [String], measuredSeconds: Double,
        picture: TestedPicture? = nil
    ) {
        self.url = url
        self.tracks = tracks
        self.unsupportedTracks = unsupportedTracks
        self.measuredSeconds = measuredSeconds
        self.picture = picture
    }
}

/// A track with what matters to who is going to watch it.
public struct TestedTrack: Codable, Hashable, Sendable {
    public enum Playback: String, Codable, Hashable, Sendable, CaseIterable {
        case yes
        /// Some browsers, on some machines.
        case some
        case no
    }

    /// Whether browsers play it over WebRTC.
    public struct Browsers: Codable, Hashable, Sendable {
        public var plays: Playback
        /// Why, and what to do about it.
        public var reason: String

        public init(plays: Playback, reason: String) {
            self.plays = plays
            self.reason = reason
        }
    }

    /// Its members stand beside the others.
    public var track: TrackDescription
    /// Such as `High`; video only.
    public var profile: String?
    /// Such as `4.1`; video only.
    public var level: String?
    /// Between two key frames; `nil` when it is longer than `measuredSeconds`. Video only.
    public var keyFrameSeconds: Double?
    /// Video only.
    public var bFrames: Bool?
    /// Whether iotvideod could decode a picture; video only.
    public var decoded: Bool?
    public var browsers: Browsers

    public init(
        track: TrackDescription, profile: String? = nil, level: String? = nil, keyFrameSeconds: Double? = nil,
        bFrames: Bool? = nil, decoded: Bool? = nil, browsers: Browsers
    ) {
        self.track = track
        self.profile = profile
        self.level = level
        self.keyFrameSeconds = keyFrameSeconds
        self.bFrames = bFrames
        self.decoded = decoded
        self.browsers = browsers
    }

    private enum CodingKeys: String, CodingKey {
        case profile, level, keyFrameSeconds, bFrames, decoded, browsers
    }

    public init(from decoder: any Decoder) throws {
        track = try TrackDescription(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        profile = try container.decodeIfPresent(String.self, forKey: .profile)
        level = try container.decodeIfPresent(String.self, forKey: .level)
        keyFrameSeconds = try container.decodeIfPresent(Double.self, forKey: .keyFrameSeconds)
        bFrames = try container.decodeIfPresent(Bool.self, forKey: .bFrames)
        decoded = try container.decodeIfPresent(Bool.self, forKey: .decoded)
        browsers = try container.decode(Browsers.self, forKey: .browsers)
    }

    public func encode(to encoder: any Encoder) throws {
        try track.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(profile, forKey: .profile)
        try container.encodeIfPresent(level, forKey: .level)
        try container.encodeIfPresent(keyFrameSeconds, forKey: .keyFrameSeconds)
        try container.encodeIfPresent(bFrames, forKey: .bFrames)
        try container.encodeIfPresent(decoded, forKey: .decoded)
        try container.encode(browsers, forKey: .browsers)
    }
}

/// A JPEG inside of an answer.
public struct TestedPicture: Codable, Hashable, Sendable {
    public var contentType: String
    public var width: Int
    public var height: Int
    /// As JSON in base64 (RFC 4648 §4).
    public var data: Data

    public init(contentType: String, width: Int, height: Int, data: Data) {
        self.contentType = contentType
        self.width = width
        self.height = height
        self.data = data
    }
}
