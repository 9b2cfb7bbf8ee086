import IoTCore
import NIOCore

/// One moment on both clocks: timers use the monotonic clock, `t` fields and tokens the wall clock.
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
