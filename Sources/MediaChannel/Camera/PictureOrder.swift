/// Detects whether a stream's pictures come in another order than the presentation order (B-frames).
struct PictureOrder: Sendable {
    private(set) var hasComeReordered = false
    private var inOrder = 0

    /// - Parameter isLate: the picture is shown before one that came earlier.
    /// - Returns: whether it is the first such picture.
    mutating func note(isLate: Bool) -> Bool {
        guard isLate else {
            inOrder += 1
            return false
        }
        defer { hasComeReordered = true }
        return !hasComeReordered
    }

    /// Until enough pictures have come, the parameter sets decide; many cameras announce more reordering than they use.
    ///
    /// - Parameter depth: the parameter sets' `max_num_reorder_frames`.
    func isReordered(depth: Int) -> Bool {
        hasComeReordered || !isKnown(depth: depth)
    }

    /// A reordered picture comes within `depth` others. Three times as many are enough, because a stream with reordered
    /// pictures may begin with some that are not.
    func isKnown(depth: Int) -> Bool {
        hasComeReordered || depth == 0 || inOrder >= min(50, max(15, 3 * (depth + 1)))
    }
}
