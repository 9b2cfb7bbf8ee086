package import IoTCore

/// When a camera was recorded, as at most `capacity` stretches: if there are more, the shortest gaps are left out. Times are
/// whole seconds since 1970.
package struct RecordedTimes: Sendable, Hashable {
    private static let year: Int64 = 366 * 86_400

    package let capacity: Int
    /// Gaps shorter than this are left out.
    package private(set) var precision: Int64 = 1
    /// Ascending, and apart.
    package private(set) var stretches: [Range<Int64>] = []

    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds times that follow those that are known, or overlap the last ones.
    ///
    /// - Parameter times: µs since 1970.
    package mutating func add(_ times: Range<Int64>) {
        let (start, last) = (
            times.lowerBound.flooredDivision(by: 1_000_000), (times.upperBound - 1).flooredDivision(by: 1_000_000)
        )
        insert(start..<max(last, start) + 1)
        while stretches.count > capacity, precision < Self.year {
            precision += precision / 4 + 1
            let all = stretches
            stretches = []
            for stretch in all { insert(stretch) }
        }
    }

    private mutating func insert(_ stretch: Range<Int64>) {
        // A clock that was set back brings earlier times.
        var place = stretches.count
        while place > 0, stretches[place - 1].lowerBound > stretch.lowerBound { place -= 1 }
        stretches.insert(stretch, at: place)
        while place > 0, stretches[place].lowerBound - stretches[place - 1].upperBound < precision {
            place -= 1
            join(place)
        }
        while place + 1 < stretches.count, stretches[place + 1].lowerBound - stretches[place].upperBound < precision {
            join(place)
        }
    }

    private mutating func join(_ place: Int) {
        let next = stretches.remove(at: place + 1)
        stretches[place] = stretches[place].lowerBound..<max(stretches[place].upperBound, next.upperBound)
    }

    /// Removes what was before a time, µs since 1970.
    package mutating func forget(before time: Int64) {
        let time = time.flooredDivision(by: 1_000_000)
        stretches = stretches.compactMap { stretch in
            let start = max(stretch.lowerBound, time)
            return start < stretch.upperBound ? start..<stretch.upperBound : nil
        }
    }
}

extension RecordingLibrary {
    private static let page = 3_200
    /// As long before the end of what is known as a segment's times may still change, µs.
    private static let unsettled: Int64 = 2 * SegmentLimits.duration

    /// When a camera was recorded, up to the last sync round. Blocks.
    ///
    /// - Parameter known: an earlier answer; then only what was recorded since then is read, and what was removed from the
    ///   beginning is left out. What was removed from the middle stays.
    /// - Throws: `storeFailed`.
    package func times(
        of camera: CameraNumber, after known: RecordedTimes
    ) throws(IoTError) -> RecordedTimes {
        var times = known
        let first = try index.segments(RecordingQuery(camera: camera, times: 0..<Int64.max, limit: 1)).entries.first
        times.forget(before: first?.start ?? .max)
        let end = times.stretches.last.map { $0.upperBound * 1_000_000 } ?? 0
        var query = RecordingQuery(camera: camera, times: max(0, end - Self.unsettled)..<Int64.max, limit: Self.page)
        repeat {
            let page = try index.ranges(query)
            for range in page.entries { times.add(range.times) }
            query.cursor = page.next
        } while query.cursor != nil
        return times
    }
}
