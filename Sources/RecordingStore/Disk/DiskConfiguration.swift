/// How often what was written is synced to the disk.
package enum SyncMode: String, Sendable, Hashable, CaseIterable {
    /// Every 5 s: a power cut costs at most that.
    case normal
    /// Every second.
    case strict
    /// Never: the system decides, normally within 30 s.
    case off

    /// The time between two rounds, in µs. Without syncing, a round still stores the index.
    var interval: Int64 { self == .strict ? 1_000_000 : 5_000_000 }
}

/// What the recordings of one camera may use.
package struct CameraLimits: Sendable, Hashable {
    /// `nil`: as much as the disk has.
    package var bytes: Int64?
    /// µs; `nil`: as long as there is space.
    package var age: Int64?

    package init(bytes: Int64? = nil, age: Int64? = nil) {
        self.bytes = bytes
        self.age = age
    }
}

package struct DiskConfiguration: Sendable, Hashable {
    /// The mount point, or a directory on the disk.
    package var path: String
    package var sync = SyncMode.normal
    /// The space that recordings leave free, in bytes.
    package var floor: Int64 = 1 << 30
    /// The most bytes that wait for the disk, for each camera.
    package var memory: Int64 = 64 << 20
    /// The space that is reserved for a camera's first segment, in bytes. Later ones are estimated from the last.
    package var firstReservation: Int64 = 16 << 20
    /// Of the cameras that have limits of their own.
    package var limits: [CameraNumber: CameraLimits] = [:]
    /// What a camera without a limit of its own gets.
    package var usualLimits = CameraLimits()

    package init(path: String) {
        self.path = path
    }

    package func limits(of camera: CameraNumber) -> CameraLimits {
        let own = limits[camera]
        return CameraLimits(bytes: own?.bytes ?? usualLimits.bytes, age: own?.age ?? usualLimits.age)
    }
}

/// The two clocks at one moment, in µs.
package struct Moment: Sendable, Hashable {
    package var monotonic: Int64
    /// Since 1970.
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }
}
