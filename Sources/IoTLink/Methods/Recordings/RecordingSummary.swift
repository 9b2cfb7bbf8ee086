public import IoTCore

/// When a device was recorded, in few numbers: the result of `recording.summary`.
public struct RecordingSummary: LinkValue, Hashable {
    /// The most stretches.
    public static let mostStretches = 400
    private static let moments: Range<Int64> = 0..<1 << 40

    /// When it was made, ms since 1970.
    public var t: Int64
    /// Whether the device is to be recorded; otherwise there are only earlier recordings.
    public var isRecorded: Bool
    /// After how many days recordings are removed; 0: only when space is needed.
    public var days: Int64
    /// Stretches between which less than this is missing are one, s.
    public var precision: Int64
    /// The stretches of time that are recorded, ascending and apart; s since 1970.
    public var times: [Range<Int64>]

    public init(t: Int64, isRecorded: Bool, days: Int64, precision: Int64, times: [Range<Int64>]) {
        self.t = t
        self.isRecorded = isRecorded
        self.days = days
        self.precision = precision
        self.times = times
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        t = try members.integer("t")
        isRecorded = try members.flag("isRecorded")
        days = try members.integer("days")
        precision = try members.integer("precision")
        times = []
        let list = try members.list("times", atMost: 2 * Self.mostStretches)
        let bounds = list.compactMap(\.integerValue)
        guard bounds.count == list.count, bounds.count.isMultiple(of: 2), bounds.allSatisfy(Self.moments.contains),
            (0...36_500).contains(days),
            Self.moments.contains(precision), t >= 0
        else { throw members.wrong("times", "pairs of seconds since 1970") }
        for place in stride(from: 0, to: bounds.count, by: 2) {
            let (start, end) = (bounds[place], bounds[place + 1])
            guard start < end, times.last.map({ $0.upperBound < start }) ?? true else {
                throw members.wrong("times", "ascending, and apart")
            }
            times.append(start..<end)
        }
    }

    public var json: JSONValue {
        [
            "t": .integer(t), "isRecorded": .bool(isRecorded), "days": .integer(days), "precision": .integer(precision),
            "times": .array(times.flatMap { [.integer($0.lowerBound), .integer($0.upperBound)] }),
        ]
    }
}

/// The parameters of `recording.report`: a summary, and whose it is.
public struct RecordingReport: LinkValue, Hashable {
    /// The device's owner for whom the summary was made: `session.begin`'s `ownership`. The hub refuses another one's.
    public var ownership: Int64
    public var summary: RecordingSummary

    public init(ownership: Int64, summary: RecordingSummary) {
        self.ownership = ownership
        self.summary = summary
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        ownership = try members.integer("ownership")
        summary = try RecordingSummary(members)
    }

    public var json: JSONValue { summary.json.merging(["ownership": .integer(ownership)]) }
}
