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
    /// Until the first look after a start, and after the beginning of each of `firmware.times`; at random, too.
    static let first: ClosedRange<Int64> = 60...1_800

    private var modes: [DeviceID: Mode] = [:]
    /// `nil` while no camera wants it.
    private var next: NIODeadline?
    private var wasScheduled = false

    /// - Parameter mode: of one of the cameras here, each of which stands for the box.
    mutating func set(_ mode: Mode, of device: DeviceID, at now: NIODeadline) {
        modes[device] = mode
        update(at: now)
    }

    mutating func remove(_ device: DeviceID, at now: NIODeadline) {
        modes[device] = nil
        update(at: now)
    }

    private mutating func update(at now: NIODeadline) {
        if modes.values.allSatisfy({ $0 == .asked }) {
            next = nil
        } else if next == nil {
            next = now + .seconds(.random(in: Self.first))
        }
    }

    /// The camera over whose link the box looks now; `nil` if it does not look now. One camera that wants it is enough.
    ///
    /// - Parameter isScheduled: whether this is one of `firmware.times`.
    mutating func look(at now: NIODeadline, isScheduled: Bool) -> DeviceID? {
        defer { wasScheduled = isScheduled }
        guard var next else { return nil }
        if isScheduled, !wasScheduled, next <= now, !modes.values.contains(.silent) {
            // Otherwise all boxes with these times would come in the same minute.
            next = now + .seconds(.random(in: Self.first))
            self.next = next
        }
        guard next <= now else { return nil }
        // Any of them, because the link of one may be broken.
        let wanting = modes.filter { $0.value == .silent || $0.value == .scheduled && isScheduled }
        guard let device = wanting.keys.randomElement() else { return nil }
        self.next = now + .seconds(.random(in: Self.interval))
        return device
    }
}
