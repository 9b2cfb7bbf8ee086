import IoTCore
import NIOCore

/// Decides when this box looks for a newer release by itself, as its cameras' users want it. Without a clock.
struct UpgradeSchedule: Sendable {
    /// The values of `ProWritable._otaMode`.
    enum Mode: Int64, Sendable {
        /// Only when somebody takes `Action._otaUpgrade`. Also any other number.
        case asked = 0
        case silent = 1
        /// As `silent`, at `firmware.times` only.
        case scheduled = 2
    }

    /// Between two looks; at random, so that a hub's boxes do not come together.
    static let interval: ClosedRange<Int64> = 4 * 3_600...8 * 3_600
    /// Until the first look.
    static let first: ClosedRange<Int64> = 300...1_800

    private var modes: [DeviceID: Mode] = [:]
    private var next: NIODeadline?

    /// - Parameter mode: of one of the cameras here, each of which stands for the box.
    mutating func set(_ mode: Mode, of device: DeviceID, at now: NIODeadline) {
        modes[device] = mode
        if mode != .asked, next == nil { next = now + .seconds(.random(in: Self.first)) }
    }

    /// The camera over whose link the box looks now; `nil` if it does not look now. One camera that wants it is enough.
    ///
    /// - Parameter isScheduled: whether this is one of `firmware.times`.
    mutating func look(at now: NIODeadline, isScheduled: Bool) -> DeviceID? {
        guard let next, next <= now else { return nil }
        let wanting = modes.filter { $0.value == .silent || $0.value == .scheduled && isScheduled }
        guard let device = wanting.keys.min(by: { $0.rawValue < $1.rawValue }) else { return nil }
        self.next = now + .seconds(.random(in: Self.interval))
        return device
    }
}
