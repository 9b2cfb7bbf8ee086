/// The values that a property with one writer may have, given the answers to that writer.
package struct ShadowProperty<Number: BinaryInteger & Sendable>: Sendable {
    /// The newest acknowledged write, and its version.
    package private(set) var acknowledged: (number: Number, version: Number)?
    /// Later writes that got no answer: each may have been carried out or not.
    package private(set) var unanswered: Set<Number> = []

    package init() {}

    /// Records a write without an answer, which will not be repeated.
    package mutating func gaveUp(_ number: Number) {
        unanswered.insert(number)
    }

    /// - Returns: The error in the answer, or `nil`.
    package mutating func acknowledge(_ number: Number, version: Number) -> String? {
        defer {
            acknowledged = (number, version)
            // The link keeps the order of one client's requests.
            unanswered = []
        }
        guard let before = acknowledged, version <= before.version else { return nil }
        return "write \(number) got version \(version), and write \(before.number) before it \(before.version)"
    }

    /// - Parameter number: The value that was read; `nil` if there is none.
    /// - Returns: The error in the value, or `nil`.
    package func judge(_ number: Number?, version: Number?) -> String? {
        guard let acknowledged else { return nil }
        guard let number, let version else { return "write \(acknowledged.number) was acknowledged and is gone" }
        if number == acknowledged.number {
            guard version != acknowledged.version else { return nil }
            return "write \(number) got version \(acknowledged.version) and now has \(version): it was applied twice"
        }
        guard unanswered.contains(number), version > acknowledged.version else {
            return "write \(acknowledged.number) (version \(acknowledged.version)) was acknowledged; "
                + "\(number) (version \(version)) was read, which is wrong: unanswered are \(unanswered.sorted())"
        }
        return nil
    }
}
