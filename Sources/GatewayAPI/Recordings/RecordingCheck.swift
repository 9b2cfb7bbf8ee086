/// `GET /v1/recordings/check`: the recording disk compared with its index.
public struct RecordingCheck: Codable, Hashable, Sendable {
    public var segments: Int
    public var bytes: Int64
    /// The number of findings; 0 if everything fits.
    public var findingCount: Int
    /// Each in words; at most 1,000.
    public var findings: [String]

    public init(segments: Int, bytes: Int64, findingCount: Int, findings: [String]) {
        self.segments = segments
        self.bytes = bytes
        self.findingCount = findingCount
        self.findings = findings
    }
}
