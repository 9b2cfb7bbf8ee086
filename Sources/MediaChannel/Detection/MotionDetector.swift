import Glibc
import IoTCore

/// Finds motion in small pictures of luma: compares each with a running mean of those before. A value without I/O.
///
/// A cell has changed if it differs from its mean by more than the sensitivity's least difference and by more than its
/// usual noise. Motion is a group of adjoining changed cells. A change of light, which moves all cells alike, is taken
/// out before; if most cells have changed nevertheless, it is another scene (the camera turned, or switched to infrared),
/// not motion.
struct MotionDetector: Sendable {
    static let columns = 96
    static let rows = 54

    /// What a picture shows.
    enum Finding: Sendable, Hashable {
        /// It is still learning what the scene looks like.
        case learning
        case still
        /// - Parameter cells: the size of the largest group.
        case motion(cells: Int)
        case anotherScene
    }

    /// How long it learns at first, µs.
    private static let learningTime: Int64 = 3_000_000
    /// In this time, a change becomes a part of the scene to 63 %, s.
    private static let memory = 10.0
    /// The part of changed cells that is another scene.
    private static let mostChanged = 0.6

    private let leastDifference: Float
    private let leastCells: Int
    /// Whether each cell counts.
    private let isWatched: [Bool]
    private let watchedCount: Int
    private var mean: [Float] = []
    /// How much each cell usually differs from its mean.
    private var noise: [Float] = []
    private var last: Int64 = 0
    private var learnsUntil: Int64 = 0

    /// - Returns: `nil` for `.off`.
    init?(_ sensitivity: MotionSensitivity, ignoring areas: PictureAreas? = nil) {
        switch sensitivity {
        case .off: return nil
        case .low: (leastDifference, leastCells) = (16, 60)
        case .medium: (leastDifference, leastCells) = (10, 16)
        case .high: (leastDifference, leastCells) = (6, 5)
        }
        isWatched = (0..<Self.columns * Self.rows).map { cell in
            let (row, column) = cell.quotientAndRemainder(dividingBy: Self.columns)
            return areas?.contain(column: column, of: Self.columns, row: row, of: Self.rows) != true
        }
        watchedCount = isWatched.count(where: \.self)
    }

    /// - Parameters:
    ///   - cells: `columns` × `rows` values, row by row.
    ///   - time: when it came, µs, on a clock that does not jump.
    mutating func look(at cells: [UInt8], time: Int64) -> Finding {
        guard cells.count == isWatched.count, watchedCount > 0 else { return .learning }
        guard !mean.isEmpty else {
            learn(cells, at: time)
            return .learning
        }
        let light = lightChange(cells)
        let weight = Float(1 - exp(-Double(time - last) / 1_000_000 / Self.memory))
        let isLearning = time < learnsUntil
        last = time
        var changed = [Bool](repeating: false, count: cells.count)
        var count = 0
        for cell in cells.indices where isWatched[cell] {
            let difference = abs(Float(cells[cell]) - mean[cell] - light)
            changed[cell] = difference > max(leastDifference, 4 * noise[cell])
            if changed[cell] { count += 1 }
            // Leaves in the wind become noise slowly, something that passes does not.
            noise[cell] += (isLearning ? 0.3 : changed[cell] ? 0.03 : 0.1) * (min(difference, 60) - noise[cell])
            mean[cell] += max(weight, isLearning ? 0.3 : 0) * (Float(cells[cell]) - mean[cell])
        }
        if Double(count) > Self.mostChanged * Double(watchedCount) {
            learn(cells, at: time)
            return .anotherScene
        }
        if light != 0 {
            for cell in mean.indices { mean[cell] += (1 - weight) * light }
        }
        guard !isLearning else { return .learning }
        let largest = Self.largestGroup(&changed)
        return largest >= leastCells ? .motion(cells: largest) : .still
    }

    private mutating func learn(_ cells: [UInt8], at time: Int64) {
        mean = cells.map { Float($0) }
        noise = [Float](repeating: 1, count: cells.count)
        last = time
        learnsUntil = time + Self.learningTime
    }

    /// By how much most cells have become brighter: the median of the differences.
    private func lightChange(_ cells: [UInt8]) -> Float {
        var counts = [Int](repeating: 0, count: 512)
        for cell in cells.indices where isWatched[cell] {
            counts[min(511, max(0, Int((Float(cells[cell]) - mean[cell]).rounded()) + 256))] += 1
        }
        var seen = 0
        for (difference, count) in counts.enumerated() {
            seen += count
            if seen * 2 >= watchedCount { return Float(difference - 256) }
        }
        return 0
    }

    /// The number of cells of the largest group whose cells touch, also at a corner. Clears the cells.
    private static func largestGroup(_ changed: inout [Bool]) -> Int {
        var largest = 0
        var waiting: [Int] = []
        for first in changed.indices where changed[first] {
            changed[first] = false
            waiting.append(first)
            var count = 0
            while let cell = waiting.popLast() {
                count += 1
                let (row, column) = cell.quotientAndRemainder(dividingBy: columns)
                for y in max(0, row - 1)...min(rows - 1, row + 1) {
                    for x in max(0, column - 1)...min(columns - 1, column + 1) where changed[y * columns + x] {
                        changed[y * columns + x] = false
                        waiting.append(y * columns + x)
                    }
                }
            }
            largest = max(largest, count)
        }
        return largest
    }
}
