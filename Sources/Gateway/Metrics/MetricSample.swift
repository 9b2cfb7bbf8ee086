/// One value of a metric, with its name and labels in Prometheus' form.
package struct MetricSample: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case summary
    }

    package var name: String
    package var kind: Kind
    package var value: Double
    package var labels: [MetricLabel]
    package var help: String?
    /// The suffix of a summary's parts: `_sum` or `_count`.
    package var suffix: String

    package init(
        _ name: String, _ kind: Kind, _ value: Double, labels: [MetricLabel] = [], help: String? = nil,
        suffix: String = ""
    ) {
        self.name = name
        self.kind = kind
        self.value = value
        self.labels = labels
        self.help = help
        self.suffix = suffix
    }
}

package struct MetricLabel: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
