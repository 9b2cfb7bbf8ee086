/// What a writer of recordings knows of the wall clock.
package struct DiskClock: Sendable {
    /// The kernel's id of this boot.
    package var boot: String
    /// Whether the wall clock is synchronised now (adjtimex(2)).
    package var isSynchronised: @Sendable () -> Bool

    /// A clock that is never known to be right.
    package static let unknown = DiskClock(boot: "") { false }

    package init(boot: String, isSynchronised: @escaping @Sendable () -> Bool) {
        self.boot = boot
        self.isSynchronised = isSynchronised
    }
}
