/// How much of one shared resource each holder has.
///
/// Who asks for more than its part is refused, and others do not notice. Nothing that is held is ever taken away for a
/// newer request. The table is as large as the number of those who hold something, so `bound.total` bounds it.
public struct Quota<Holder: QuotaHolder>: Sendable {
    /// Which bound a request would have passed.
    public enum Refusal: Error, Sendable, Hashable {
        /// The holder's own part is used up.
        case each(Int)
        /// The others have taken what is not reserved.
        case total(Int)
    }

    /// A smaller bound counts for what is taken from then on.
    public var bound: QuotaBound
    private var parts: [Holder: Int] = [:]
    /// What all hold.
    public private(set) var used = 0
    /// What holders without privilege hold.
    private var common = 0
    /// How often it was refused.
    public private(set) var refusals = 0

    public init(_ bound: QuotaBound) {
        self.bound = bound
    }

    public func held(by holder: Holder) -> Int { parts[holder] ?? 0 }

    public mutating func take(for holder: Holder) throws(Refusal) {
        let held = held(by: holder)
        var refusal: Refusal?
        if used >= bound.total { refusal = .total(bound.total) }
        if !holder.isPrivileged {
            if common >= bound.total - bound.reserve { refusal = .total(bound.total - bound.reserve) }
            if held >= bound.each { refusal = .each(bound.each) }
        }
        if let refusal {
            refusals += 1
            throw refusal
        }
        parts[holder] = held + 1
        used += 1
        if !holder.isPrivileged { common += 1 }
    }

    /// Gives one back; nothing happens for a holder that has none.
    public mutating func giveBack(_ holder: Holder) {
        guard let held = parts[holder] else { return }
        parts[holder] = held > 1 ? held - 1 : nil
        used -= 1
        if !holder.isPrivileged { common -= 1 }
    }

    /// All is given back: a new second of a rate begins.
    public mutating func giveBackAll() {
        parts = [:]
        used = 0
        common = 0
    }
}

extension Quota.Refusal {
    /// 25024, or another number where the resource has its own.
    ///
    /// - Parameter things: what is counted: "requests wait for an answer".
    public func error(_ things: String, code: ErrorCode = .tooManyRequests, remedy: String? = nil) -> IoTError {
        switch self {
        case .each(let bound): IoTError(code, "this account has its part, \(bound): \(things)", remedy: remedy)
        case .total(let bound): IoTError(code, "all \(bound) are in use: \(things)", remedy: remedy)
        }
    }
}
