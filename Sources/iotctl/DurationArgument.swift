import ArgumentParser

/// `10s`, `500ms`, `2m`, `1h`, `30d`; a bare number is seconds.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        let number = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let value = Double(number), value > 0, value < 1e9 else { return nil }
        switch argument.dropFirst(number.count) {
        case "ms": duration = .milliseconds(value)
        case "s", "": duration = .seconds(value)
        case "m", "min": duration = .seconds(value * 60)
        case "h": duration = .seconds(value * 3600)
        case "d": duration = .seconds(value * 86_400)
        default: return nil
        }
    }

    /// As `--help` shows a default.
    var defaultValueDescription: String {
        for (unit, length) in [("d", 86_400.0), ("h", 3600), ("m", 60), ("s", 1)] {
            let count = (duration / .seconds(length))
            if count >= 1, count == count.rounded() { return "\(Int(count))\(unit)" }
        }
        return Format.duration(duration)
    }

    /// Whole seconds, at least one.
    var seconds: Int64 { max(1, duration.components.seconds) }
}
