import Gateway

/// Writes Prometheus' text format, version 0.0.4.
enum PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    static func write(_ samples: [MetricSample]) -> String {
        var text = ""
        for (name, family) in Dictionary(grouping: samples, by: \.name).sorted(by: { $0.key < $1.key }) {
            guard let first = family.first else { continue }
            // A name has one type. Samples of another type would make the whole text invalid, so they are left out.
            let lines = family.filter { $0.kind == first.kind }
            if let help = family.lazy.compactMap(\.help).first {
                text += "# HELP \(name) \(escape(help, quotes: false))\n"
            }
            text += "# TYPE \(name) \(first.kind.rawValue)\n"
            for sample in lines.sorted(by: { key($0) < key($1) }) {
                text += name + sample.suffix + labels(sample.labels) + " " + number(sample.value) + "\n"
            }
        }
        return text
    }

    private static func key(_ sample: MetricSample) -> String {
        sample.labels.map { "\($0.name)=\($0.value)" }.joined(separator: ",") + sample.suffix
    }

    private static func labels(_ labels: [MetricLabel]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escape($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return String(value)
    }
}
