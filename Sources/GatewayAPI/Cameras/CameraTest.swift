public import Foundation
public import IoTCore

/// `POST /v1/camera-tests`: a camera's source to test, without adding the camera.
@dynamicMemberLookup
public struct CameraTestRequest: APIRequestBody, Hashable {
    private static let keys = CameraKey.all.filter { $0.isInAPI && $0.part == .source }
    public static let members = keys.map(\.member) + ["picture"]

    /// The same settings as in a `CameraRequest`.
    public var settings: CameraSettings
    /// Whether the response contains a picture. Default false.
    public var picture: Bool?

    private enum CodingKeys: String, CodingKey {
        case picture
    }

    public init(_ settings: CameraSettings, picture: Bool? = nil) {
        self.settings = settings
        self.picture = picture
    }

    public init(from decoder: any Decoder) throws {
        settings = try CameraSettings(from: decoder, members: Self.keys, isWhole: true)
        picture = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Bool.self, forKey: .picture)
    }

    public func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder, members: Self.keys)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(picture, forKey: .picture)
    }

    public subscript<Value>(dynamicMember path: KeyPath<CameraSettings, Value>) -> Value {
        settings[keyPath: path]
    }

    /// The request that would add this camera.
    public var camera: CameraRequest {
        var camera = settings
        camera.name = "test"
        return CameraRequest(camera)
    }
}

/// The result of testing a source.
public struct CameraTestReport: Codable, Hashable, Sendable {
    /// The source URL, without its password.
    public var url: String
    public var tracks: [TestedTrack]
    /// Tracks that iotvideod does not support, for example `audio mp3`.
    public var unsupportedTracks: [String]
    /// The measured duration in seconds, on the source's clock.
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

/// A track with properties that matter for viewers.
public struct TestedTrack: Codable, Hashable, Sendable {
    public enum Playback: String, Codable, Hashable, Sendable, CaseIterable {
        case yes
        /// Some browsers on some machines.
        case some
        case no
    }

    /// Whether browsers can play the track over WebRTC.
    public struct Browsers: Codable, Hashable, Sendable {
        public var plays: Playback
        /// The reason, and what to do about it.
        public var reason: String

        public init(plays: Playback, reason: String) {
            self.plays = plays
            self.reason = reason
        }
    }

    /// Encoded as members of this object.
    public var track: TrackDescription
    /// For example `High`; video only.
    public var profile: String?
    /// For example `4.1`; video only.
    public var level: String?
    /// The time between two key frames; `nil` if it is longer than `measuredSeconds`. Video only.
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

/// A JPEG picture in a response.
public struct TestedPicture: Codable, Hashable, Sendable {
    public var contentType: String
    public var width: Int
    public var height: Int
    /// Base64 in JSON (RFC 4648 §4).
    public var data: Data

    public init(contentType: String, width: Int, height: Int, data: Data) {
        self.contentType = contentType
        self.width = width
        self.height = height
        self.data = data
    }
}
