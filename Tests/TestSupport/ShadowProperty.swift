/// What a property with one writer may hold, by what that writer was told.
package struct ShadowProperty<Number: BinaryInteger & Sendable>: Sendable {
    /// The newest acknowledged write, and the version that it was given.
    package private(set) var acknowledged: (number: Number, version: Number)?
    /// Later ones that were sent and given up without an answer: each may have been carried out, or not.
    package private(set) var unanswered: Set<Number> = []

    package init() {}

    /// The write will not be sent again.
    package mutating func gaveUp(_ number: Number) {
        unanswered.insert(number)
    }

    /// - Returns: What is wrong with the answer; `nil` for nothing.
    package mutating func acknowledge(_ number: Number, version: Number) -> String? {
        defer {
            acknowledged = (number, version)
            // The link keeps the order of one client's requests.
            unanswered = []
        }
        guard let before = acknowledged, version <= before.version else { return nil }
        return "write \(number) got version \(version), and write \(before.number) before it \(before.version)"
    }

    /// - Parameter number: what was read; `nil` for nothing there.
    /// - Returns: What is wrong with it; `nil` for nothing.
    package func judge(_ number: Number?, version: Number?) -> String? {
        guard let acknowledged else { return nil }
        guard let number, let version else { return "write \(acknowledged.number) was acknowledged and is gone" }
        if number == acknowledged.number {
            guard version != acknowledged.version else { return nil }
            return "write \(number) got version \(acknowledged.version) and now has \(version): it was applied twice"
        }
        guard unanswered.contains(number), version > acknowledged.version else {
            return "write \(acknowledged.number) (version \(acknowledged.version)) was acknowledged; "
                + "\(number) (version \(version)) is there, and may not be: unanswered are \(unanswered.sorted())"
        }
        return nil
    }
}
