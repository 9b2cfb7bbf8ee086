/// The progress of a download over connections that break.
public struct FirmwareDownload: Sendable {
    /// Connections that broke one after the other without a new byte.
    private static let maximumFailures = 8
    private static let longestPause = Duration.seconds(60)
    /// The part of an upgrade's progress that the download is.
    private static let lastPercent: Int64 = 90

    private let size: Int64
    /// How many bytes of the file are here.
    public private(set) var have: Int64
    private var failures = 0

    /// - Parameter have: of an earlier download of the same file.
    public init(size: Int64, have: Int64) {
        self.size = size
        self.have = have <= size ? have : 0
    }

    public var isComplete: Bool { have == size }

    /// - Returns: whether the bytes belong to the file; more than its size do not.
    public mutating func received(_ count: Int) -> Bool {
        guard Int64(count) <= size - have else { return false }
        have += Int64(count)
        failures = 0
        return true
    }

    /// The server sends the file from its beginning.
    public mutating func startOver() {
        have = 0
    }

    /// A connection broke, or none came about.
    ///
    /// - Returns: how long to wait before the next one; `nil` to give up.
    public mutating func broke() -> Duration? {
        failures += 1
        guard failures < Self.maximumFailures else { return nil }
        return min(.seconds(1) * (1 << (failures - 1)), Self.longestPause)
    }

    /// 1 to 90.
    public var percent: Int32 {
        let share = Double(have) / Double(size) * Double(Self.lastPercent)
        return Int32(max(1, min(Self.lastPercent, Int64(share))))
    }
}
