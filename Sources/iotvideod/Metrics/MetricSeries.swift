import CoreMetrics
import Gateway
import Synchronization

/// One series of numbers.
final class MetricSeries: CounterHandler, FloatingPointCounterHandler, RecorderHandler, TimerHandler, MeterHandler,
    Sendable
{
    enum Kind: Sendable {
        case counter
        case gauge
        /// Count and sum of the recorded values.
        case summary
        /// Like `summary`, but in seconds.
        case timer
    }

    private struct Value {
        var value = 0.0
        var count: Int64 = 0
    }

    let kind: Kind
    private let state = Mutex(Value())

    init(_ kind: Kind) {
        self.kind = kind
    }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func reset() { state.withLock { $0 = Value() } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        if kind == .gauge { set(value) } else { add(value) }
    }

    func recordNanoseconds(_ duration: Int64) { add(Double(duration) / 1e9) }

    private func add(_ amount: Double) {
        state.withLock { state in
            state.value += amount
            state.count += 1
        }
    }

    func samples(_ key: MetricKey) -> [MetricSample] {
        let now = state.withLock { $0 }
        switch kind {
        case .counter:
            let name = key.name.hasSuffix("_total") ? key.name : key.name + "_total"
            return [MetricSample(name, .counter, now.value, labels: key.labels)]
        case .gauge: return [MetricSample(key.name, .gauge, now.value, labels: key.labels)]
        case .summary, .timer:
            let name = kind == .timer && !key.name.hasSuffix("_seconds") ? key.name + "_seconds" : key.name
            return [
                MetricSample(name, .summary, now.value, labels: key.labels, suffix: "_sum"),
                MetricSample(name, .summary, Double(now.count), labels: key.labels, suffix: "_count"),
            ]
        }
    }
}
