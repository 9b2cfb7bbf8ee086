/// A camera's recording plan: the value of `ProWritable.recordPlan`, in the form of the IoT video SDK.
///
/// The SDK gives the names of the members only; what they mean here is in docs/recording.md.
public struct RecordPlan: Hashable, Sendable {
    /// The most sections, `timeSection1` and following ones.
    package static let sections = RecordingTimes.most
    /// Bit 0 is Monday, bit 6 Sunday; 0 means each day.
    package static let everyDay = 1 << RecordingTimes.daysOfWeek - 1
    /// Minutes since midnight.
    package static let latestBegin = RecordingTimes.minutesOfDay - 1
    package static let latestEnd = RecordingTimes.minutesOfDay

    /// The times of the enabled sections; `nil` if none is enabled: then the plan says nothing.
    public let times: RecordingTimes?

    /// - Parameter value: as the thing model has validated it. Sections that lack a number are ignored.
    package init(_ value: JSONValue) {
        var entries: [(weekday: Int, begin: Int, end: Int)] = []
        for number in 1...Self.sections {
            guard let section = value[Self.name(of: number)], section["enable"]?.integerValue == 1,
                let days = section["dayOfWeek"]?.integerValue, let begin = section["begin"]?.integerValue,
                let end = section["end"]?.integerValue
            else { continue }
            let bits = days == 0 ? Int64(Self.everyDay) : days
            for weekday in 0..<RecordingTimes.daysOfWeek where bits & 1 << Int64(weekday) != 0 {
                entries.append((weekday, Int(clamping: begin), Int(clamping: end)))
            }
        }
        times = entries.isEmpty ? nil : RecordingTimes(entries)
    }

    /// - Parameter number: from 1.
    package static func name(of number: Int) -> String { "timeSection\(number)" }
}
