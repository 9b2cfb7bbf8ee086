import IoTCore
import NIOCore

/// The two clocks of one moment: timers use the monotonic one, `t` fields and tokens the other.
struct HubTime: Sendable {
    var monotonic: NIODeadline
    /// ms since 1970.
    var wall: Int64

    /// s since 1970.
    var seconds: Int64 { wall / 1_000 }

    static func now() -> HubTime {
        HubTime(monotonic: .now(), wall: WallClock.milliseconds())
    }
}
