import CoreMetrics
import Gateway
import Synchronization

/// A backend of swift-metrics that keeps the current values for `GET /metrics`.
///
/// It keeps counters, gauges, and the count and sum of timers and recorders. At most `capacity` series are kept;
/// requests for further ones are dropped and counted, so that labels cannot fill the memory.
final class MetricsRegistry: MetricsFactory, Sendable {
    static let defaultCapacity = 1000

    /// The registry of the process, which bootstraps swift-metrics.
    static let shared: MetricsRegistry = {
        let registry = MetricsRegistry()
        MetricsSystem.bootstrap(registry)
        return registry
    }()

    private struct State {
        var series: [MetricKey: MetricSeries] = [:]
        var dropped: Int64 = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = defaultCapacity) {
        self.capacity = capacity
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .summary : .gauge)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .timer)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge)
    }

    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter)
    }

    // Series outlive their handlers, because a counter must never restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}

    /// The series of a label and its dimensions. Above `capacity` it is a new one, which is not kept.
    func series(_ label: String, _ dimensions: [(String, String)], _ kind: MetricSeries.Kind) -> MetricSeries {
        let key = MetricKey(label, dimensions)
        return state.withLock { state in
            if let known = state.series[key], known.kind == kind { return known }
            guard state.series.count < capacity, state.series[key] == nil else {
                state.dropped += 1
                return MetricSeries(kind)
            }
            let made = MetricSeries(kind)
            state.series[key] = made
            return made
        }
    }

    /// The current values of all series.
    func samples() -> [MetricSample] {
        let (series, dropped) = state.withLock { ($0.series, $0.dropped) }
        var samples = series.flatMap { key, series in series.samples(key) }
        samples.append(
            MetricSample(
                "iotvideod_metrics_dropped_series_total", .counter, Double(dropped),
                help: "Requests for a series above the maximum number"))
        return samples
    }
}

/// A metric's name and labels in Prometheus' form.
struct MetricKey: Hashable, Sendable {
    let name: String
    let labels: [MetricLabel]

    init(_ name: String, _ labels: [(String, String)]) {
        self.name = Self.name(name, allowingColon: true)
        self.labels = labels.map { MetricLabel(name: Self.name($0.0, allowingColon: false), value: $0.1) }
            .sorted { $0.name < $1.name }
    }

    /// `[a-zA-Z_:][a-zA-Z0-9_:]*`
    private static func name(_ text: String, allowingColon: Bool) -> String {
        var name = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ":") where allowingColon: name += ":"
            default: name += "_"
            }
        }
        return name.isEmpty ? "_" : name
    }
}
