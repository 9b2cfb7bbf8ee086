import Synchronization

/// Segments that are being read, and therefore not removed. Readers and the writer of the disk share it.
package final class SegmentLeases: Sendable {
    private struct State {
        var readers: [SegmentID: Int] = [:]
        var removed: Set<SegmentID> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Keeps a segment from being removed until `release`. Look it up in the index after this.
    ///
    /// - Returns: False if it is already being removed.
    package func take(_ id: SegmentID) -> Bool {
        state.withLock { state in
            guard !state.removed.contains(id) else { return false }
            state.readers[id, default: 0] += 1
            return true
        }
    }

    package func release(_ id: SegmentID) {
        state.withLock { state in
            guard let count = state.readers[id] else { return }
            state.readers[id] = count > 1 ? count - 1 : nil
        }
    }

    var taken: Set<SegmentID> {
        state.withLock { Set($0.readers.keys) }
    }

    /// Refuses new readers of the segments that are not being read.
    ///
    /// - Returns: Those.
    func beginRemoval(of ids: [SegmentID]) -> [SegmentID] {
        state.withLock { state in
            let free = ids.filter { state.readers[$0] == nil }
            state.removed.formUnion(free)
            return free
        }
    }

    func endRemoval(of ids: [SegmentID]) {
        state.withLock { $0.removed.subtract(ids) }
    }
}
