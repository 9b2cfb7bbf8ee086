/// Callbacks that observe frames as they pass. Confined to the caller's event loop.
package struct FrameTaps<Frame> {
    private var taps: [Int: (Frame) -> Void] = [:]
    private var next = 0

    package init() {}

    /// - Returns: the identifier for `remove(_:)`.
    package mutating func add(_ tap: @escaping (Frame) -> Void) -> Int {
        defer { next += 1 }
        taps[next] = tap
        return next
    }

    package mutating func remove(_ tap: Int) {
        taps[tap] = nil
    }

    package func callAsFunction(_ frame: @autoclosure () -> Frame) {
        guard !taps.isEmpty else { return }
        let frame = frame()
        for tap in taps.values { tap(frame) }
    }
}
