/// Whether a wall clock can be right. A machine without a battery-backed clock starts decades in the past.
public enum ClockSanity {
    /// 2026-11-01T00:00:00Z, in s since 1970: earlier than any build of this source. Advance it with each release.
    public static let earliestSeconds: Int64 = 1_793_491_200

    /// - Parameter wall: ms since 1970.
    public static func isPlausible(_ wall: Int64) -> Bool {
        wall >= earliestSeconds * 1_000
    }
}
