/// Whether a wall clock can be right: a box without a battery clock comes up decades ago.
public enum ClockSanity {
    /// 2026-11-01T00:00:00Z, in s since 1970: no program of this source was built earlier. Move it on with releases.
    public static let earliestSeconds: Int64 = 1_793_491_200

    /// - Parameter wall: ms since 1970.
    public static func isPlausible(_ wall: Int64) -> Bool {
        wall >= earliestSeconds * 1_000
    }
}
