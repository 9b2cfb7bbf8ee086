/// How fast recordings are played; 1 is the speed at which they were recorded.
public enum PlaybackSpeed {
    /// Above this, only key frames are sent.
    public static let everyFrame = 2.0
    public static let requirement = "must be more than 0 and at most 32"

    public static func isValid(_ speed: Double) -> Bool { speed > 0 && speed <= 32 }

    /// - Returns: the speed, but at least 0.01.
    /// - Throws: `invalidParameter` unless it is valid.
    public static func check(_ speed: Double) throws(IoTError) -> Double {
        guard isValid(speed) else { throw IoTError(.invalidParameter, "a speed \(requirement)") }
        return max(speed, 0.01)
    }
}
