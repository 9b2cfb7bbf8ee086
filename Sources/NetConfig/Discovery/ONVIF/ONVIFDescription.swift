/// What an ONVIF camera says of itself when it is asked.
public struct ONVIFDescription: Hashable, Sendable, Codable {
    /// One of its streams.
    public struct Stream: Hashable, Sendable, Codable {
        /// `rtsp://…`, without a password, at the host that was asked.
        public var url: String
        /// Of the camera's profile.
        public var name: String
        /// As ONVIF names it: `H264`, `H265`, `JPEG`.
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
    /// The one with the fewest, of the same lens; `nil` when there is only one.
    public var sub: Stream?
}
