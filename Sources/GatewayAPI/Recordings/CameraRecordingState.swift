/// What is recorded of a camera.
public struct CameraRecordingState: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// What the camera delivers is recorded.
        case recording
        /// The camera is off or delivers nothing, or it is not recorded at this time, or until an event.
        case waiting
        /// The disk cannot be written; `reason` says why. The newest pictures wait in memory.
        case paused
    }

    public var state: State
    /// Only in the state `paused`.
    public var reason: APIError?
    /// The size of all its recordings, also of the one that grows.
    public var bytes: Int64
    /// Parts of about a second that were lost since the start, because the disk was too slow, away or full.
    public var droppedFragments: Int
    /// The most bytes; `nil`: as many as the disk has.
    public var mostBytes: Int64?
    /// After how many days its recordings are removed; `nil`: only for space.
    public var days: Int?
    /// `true` if `ProWritable.recordPlan` of its model says when it is recorded, and `recordTimes` does not count.
    public var followsPlan: Bool?

    public init(
        state: State, reason: APIError? = nil, bytes: Int64, droppedFragments: Int, mostBytes: Int64? = nil,
        days: Int? = nil, followsPlan: Bool? = nil
    ) {
        self.state = state
        self.reason = reason
        self.bytes = bytes
        self.droppedFragments = droppedFragments
        self.mostBytes = mostBytes
        self.days = days
        self.followsPlan = followsPlan
    }
}
