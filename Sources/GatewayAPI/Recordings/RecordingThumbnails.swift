public import struct Foundation.Data

/// `GET /v1/devices/{device}/recordings/thumbnails`
public struct RecordingThumbnails: Codable, Hashable, Sendable {
    /// In the order of time; parts without a picture are left out.
    public var thumbnails: [RecordingThumbnail]
    /// The value of `from` for the rest; `nil` if there is none.
    public var next: Int64?

    public init(thumbnails: [RecordingThumbnail], next: Int64? = nil) {
        self.thumbnails = thumbnails
        self.next = next
    }
}

/// The picture of a part of a time. All times are ms since 1970.
public struct RecordingThumbnail: Codable, Hashable, Sendable {
    /// When the part begins.
    public var from: Int64
    /// When the picture was captured.
    public var time: Int64
    /// Base64 in JSON (RFC 4648 §4).
    public var jpeg: Data

    public init(from: Int64, time: Int64, jpeg: Data) {
        self.from = from
        self.time = time
        self.jpeg = jpeg
    }
}
