import NIOConcurrencyHelpers

/// One end of two parts that know each other: it is set once, when both are made, and does not keep its value alive.
final class LateBound<Value: AnyObject & Sendable>: Sendable {
    private struct Reference: Sendable {
        weak var value: Value?
    }

    private let reference = NIOLockedValueBox(Reference())

    var value: Value? { reference.withLockedValue { $0.value } }

    func bind(_ value: Value) {
        reference.withLockedValue { $0.value = value }
    }
}
