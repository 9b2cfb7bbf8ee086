import NIOCore

/// When the hub next tries to read its state from the store, after changes in memory could not be stored. Until a read
/// succeeds, it decides nothing.
struct StateRecovery: Sendable {
    private static let shortest = TimeAmount.milliseconds(100)
    private static let longest = TimeAmount.seconds(10)

    private(set) var next: NIODeadline
    private var pause = StateRecovery.shortest

    init(at time: NIODeadline) {
        next = time
    }

    mutating func failed(at time: NIODeadline) {
        next = time + pause
        pause = min(pause * 2, Self.longest)
    }
}
