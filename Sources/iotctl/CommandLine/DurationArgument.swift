import ArgumentParser

/// A duration: `10s`, `500ms`, `2m`, `1h`, `30d`. A number without a unit is in seconds.
struct DurationArgument: Sendable {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    /// - Throws: `ValidationError` with the reason.
    static func parse(_ text: String) throws -> DurationArgument {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let value = Double(number), let unit = Self.milliseconds(of: text.dropFirst(number.count)) else {
            throw ValidationError(
                "a time is a number with a unit, such as 500ms, 10s, 2m, 1h or 30d; without one it is in seconds")
        }
        guard value > 0 else { throw ValidationError("a time must be greater than 0") }
        guard value < 1e9 else { throw ValidationError("this time is too long") }
        return DurationArgument(.milliseconds(value * unit))
    }

    private static func milliseconds(of unit: Substring) -> Double? {
        switch unit {
        case "ms": 1
        case "s", "": 1000
        case "m", "min": 60_000
        case "h": 3_600_000
        case "d": 86_400_000
        default: nil
        }
    }

    /// - Parameter words: the range, in the words of the option's help.
    /// - Throws: `ValidationError` if the duration is outside `range`, in seconds.
    func check(_ range: ClosedRange<Int64>, _ words: String, of option: String = "--ttl") throws {
        guard range.contains(seconds) else { throw ValidationError("\(option) must be \(words)") }
    }

    /// At least one.
    var milliseconds: Int {
        let (seconds, attoseconds) = duration.components
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }

    /// Whole seconds, at least one.
    var seconds: Int64 { max(1, duration.components.seconds) }
}
