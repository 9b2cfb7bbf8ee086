/// What is recorded of a camera.
public struct CameraRecordingState: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// What the camera delivers is recorded.
        case recording
        /// The camera is off or delivers nothing.
        case waiting
        /// The disk cannot be written; `reason` says why. The newest pictures wait in memory.
        case paused
    }

    public var state: State
    /// Only in the state `paused`.
    public var reason: APIError?
    /// The size of all its complete recordings.
    public var bytes: Int64
    /// Parts of about a second that were lost since the start, because the disk was too slow, away or full.
    public var droppedFragments: Int

    public init(state: State, reason: APIError? = nil, bytes: Int64, droppedFragments: Int) {
        self.state = state
        self.reason = reason
        self.bytes = bytes
        self.droppedFragments = droppedFragments
    }
}
