import NIOCore

/// When the hub tries next to read its state from the store, after memory has seen what was never stored. Until that
/// succeeds it decides nothing.
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
