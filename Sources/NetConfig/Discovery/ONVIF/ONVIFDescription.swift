/// An ONVIF camera's description of itself.
public struct ONVIFDescription: Hashable, Sendable, Codable {
    /// One of its streams.
    public struct Stream: Hashable, Sendable, Codable {
        /// `rtsp://…`, without a password, with the host of the request.
        public var url: String
        /// The name of the camera's profile.
        public var name: String
        /// ONVIF's name: `H264`, `H265`, `JPEG`.
        public var codec: String?
        public var width: Int?
        public var height: Int?
    }

    public var manufacturer: String?
    public var model: String?
    public var version: String?
    public var serialNumber: String?
    /// The stream with the most pixels.
    public var main: Stream
    /// The stream with the fewest pixels, of the same lens; `nil` if there is only one.
    public var sub: Stream?
}
