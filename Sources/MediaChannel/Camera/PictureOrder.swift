/// Whether a stream's pictures come in another order than they are shown in (B-frames).
struct PictureOrder: Sendable {
    private var hasComeReordered = false
    private var inOrder = 0

    /// - Parameter isLate: a picture came that is shown before one that came earlier.
    /// - Returns: whether it is the first such.
    mutating func note(isLate: Bool) -> Bool {
        guard isLate else {
            inOrder += 1
            return false
        }
        defer { hasComeReordered = true }
        return !hasComeReordered
    }

    /// Until enough have come to see it, what the parameter sets allow counts; many cameras allow more than they do.
    ///
    /// - Parameter depth: the parameter sets' `max_num_reorder_frames`.
    func isReordered(depth: Int) -> Bool {
        hasComeReordered || inOrder < 50 && depth > 0
    }
}
