/// `POST /v1/cameras/{name}/detections`: something was noticed at the camera.
public struct DetectionRequest: APIRequestBody, Hashable {
    public static let members = ["type", "seconds"]

    /// A value of `DetectionType`.
    public var type: String
    /// How long it lasts from now on; 0 without it, at most 3,600.
    public var seconds: Double?

    public init(type: String, seconds: Double? = nil) {
        self.type = type
        self.seconds = seconds
    }
}

/// The event that the camera's users get. Times are ms since 1970.
public struct DetectionReport: Codable, Hashable, Sendable {
    public var type: String
    /// The bits of the IoT video SDK; 0x8000 if it is recorded.
    public var mask: Int64
    public var start: Int64
    public var end: Int64
    public var recorded: Bool

    public init(type: String, mask: Int64, start: Int64, end: Int64, recorded: Bool) {
        self.type = type
        self.mask = mask
        self.start = start
        self.end = end
        self.recorded = recorded
    }
}
