/// Maps a camera's clock to the machine's, piecewise: each fragment gets a time of its own.
///
/// A frame arrives late by the network's delay, never early, so the least delayed frames show the true relation. The
/// relation also drifts: a camera's clock is wrong by some hundred ppm, and some cameras stamp 25 pictures a second
/// where they deliver 20. So this is the line below all points (camera's time, delay) of the last seconds that lies
/// closest to them: the edge of their lower convex hull at their middle (Moon, Skelly, Towsley: "Estimation and Removal
/// of Clock Skew from Network Delay Measurements", 1999).
package struct MediaClock: Sendable {
    private struct Point {
        var media: Int64
        /// Arrival on the machine's clock minus `media`.
        var offset: Int64
    }

    private struct Line {
        var media: Int64 = 0
        var offset: Int64 = 0
        var slope = 0.0

        func offset(at media: Int64) -> Int64 { offset + Int64(slope * Double(media - self.media)) }
    }

    /// How much of the past counts, on the machine's clock, in µs.
    private static let window: Int64 = 16_000_000
    /// Only the least delayed frame of this time counts, in µs.
    private static let bucket: Int64 = 500_000

    private var points: [Point] = []
    private var line = Line()
    private var bucketEnd = Int64.min

    package init() {}

    /// - Parameters:
    ///   - media: a frame's decoding time, in µs on the camera's clock.
    ///   - arrival: in µs on the machine's monotonic clock.
    /// - Returns: When the frame was sent, on the machine's clock.
    package mutating func time(ofFrame media: Int64, arrival: Int64) -> Int64 {
        let point = Point(media: media, offset: arrival - media)
        if arrival >= bucketEnd || points.isEmpty {
            bucketEnd = arrival + Self.bucket
            points.append(point)
            points.removeAll { $0.media + $0.offset < arrival - Self.window }
            line = lineBelow()
        } else if let last = points.last, point.offset - last.offset < slopeAllowance(from: last, to: point) {
            points[points.count - 1] = point
            line = lineBelow()
        }
        return min(arrival, media + line.offset(at: media))
    }

    /// Forgets the past, after a break in either clock.
    package mutating func reset() {
        points = []
        bucketEnd = .min
    }

    /// With a drifting clock a later point is higher or lower without having been delayed.
    private func slopeAllowance(from last: Point, to point: Point) -> Int64 {
        guard let first = points.first, last.media > first.media else { return 0 }
        let slope = Double(last.offset - first.offset) / Double(last.media - first.media)
        return Int64(slope * Double(point.media - last.media))
    }

    private func lineBelow() -> Line {
        let hull = lowerHull()
        guard let first = hull.first, let last = hull.last, first.media < last.media else {
            return Line(offset: points.map(\.offset).min() ?? 0)
        }
        let middle = first.media + (last.media - first.media) / 2
        let end = hull.firstIndex { $0.media > middle } ?? hull.count - 1
        let (left, right) = (hull[max(0, end - 1)], hull[end])
        let slope = Double(right.offset - left.offset) / Double(right.media - left.media)
        return Line(media: right.media, offset: right.offset, slope: slope)
    }

    /// Andrew's monotone chain.
    private func lowerHull() -> [Point] {
        var hull: [Point] = []
        hull.reserveCapacity(points.count)
        for point in points.sorted(by: { ($0.media, $0.offset) < ($1.media, $1.offset) })
        where hull.last?.media != point.media {
            while hull.count >= 2, Self.turnsRight(hull[hull.count - 2], hull[hull.count - 1], point) {
                hull.removeLast()
            }
            hull.append(point)
        }
        return hull
    }

    private static func turnsRight(_ a: Point, _ b: Point, _ c: Point) -> Bool {
        Double(b.media - a.media) * Double(c.offset - a.offset)
            <= Double(b.offset - a.offset) * Double(c.media - a.media)
    }
}
