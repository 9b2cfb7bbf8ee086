import IoTCore
import NIOCore
import TestSupport
import ThingModel

@testable import IoTLink

/// A box with one principal: its process, which may be killed, and its cable, which may be unplugged.
struct VirtualBox {
    let principal: Principal
    /// The session of the process; `nil` while no process runs.
    var machine: LinkSessionMachine?
    /// Counts the processes.
    private(set) var life = 0
    var isCableIn = true
    var device: VirtualDevice?
    var writers: [VirtualWriter]
    /// The most times that an action was carried out in an earlier life.
    private(set) var mostRepeated = 0
    private(set) var carriedOut: Set<Int64> = []
    /// A user's view of who is online, by device id.
    var view: [String: Bool] = [:]
    private(set) var timer: NIODeadline?

    init(principal: Principal, writers: [VirtualWriter] = []) {
        self.principal = principal
        self.writers = writers
    }

    mutating func start(_ timing: ChaosTiming, seed: UInt64, wall: Int64) throws {
        life += 1
        machine = LinkSessionMachine(
            principal: principal, limits: timing.link, renewsToken: false, generator: SeededGenerator(seed: seed),
            wall: wall)
        if principal.kind == .device { device = try VirtualDevice(life: life) }
        view = [:]
    }

    mutating func kill() {
        noteActions()
        machine = nil
        device = nil
        timer = nil
    }

    /// Records what the device has done in this life.
    mutating func noteActions() {
        for (value, count) in device?.actions ?? [:] {
            mostRepeated = max(mostRepeated, count)
            carriedOut.insert(value)
        }
    }

    /// - Returns: When to be woken, if that is earlier than the present timer.
    mutating func newTimer(at now: NIODeadline) -> NIODeadline? {
        if let timer, timer <= now { self.timer = nil }
        guard let next = machine?.nextDeadline, timer.map({ next < $0 }) ?? true else { return nil }
        timer = max(next, now)
        return timer
    }

    var isOnline: Bool { machine?.status.status == .online }
}
