/// Counts how much of one shared resource each holder has.
///
/// A holder that asks for more than its share is refused, and the other holders are not affected. A newer request never
/// takes away what is held. The table has one entry per holder, so `bound.total` limits its size.
public struct Quota<Holder: QuotaHolder>: Sendable {
    /// The limit that a request would have exceeded.
    public enum Refusal: Error, Sendable, Hashable {
        /// The holder has used its own share.
        case each(Int)
        /// Everything that is not reserved is in use.
        case total(Int)
    }

    /// A smaller bound applies to later requests only.
    public var bound: QuotaBound
    private var parts: [Holder: Int] = [:]
    /// The amount that all holders have.
    public private(set) var used = 0
    /// The amount that unprivileged holders have.
    private var common = 0
    /// The number of refused requests.
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

    /// Gives one back. Does nothing for a holder that has none.
    public mutating func giveBack(_ holder: Holder) {
        guard let held = parts[holder] else { return }
        parts[holder] = held > 1 ? held - 1 : nil
        used -= 1
        if !holder.isPrivileged { common -= 1 }
    }

    /// Gives everything back, for example when a new second of a rate limit begins.
    public mutating func giveBackAll() {
        parts = [:]
        used = 0
        common = 0
    }
}

extension Quota.Refusal {
    /// The error for the client: 25024, or the resource's own number.
    ///
    /// - Parameter things: what is counted, for example "requests wait for an answer".
    public func error(_ things: String, code: ErrorCode = .tooManyRequests, remedy: String? = nil) -> IoTError {
        switch self {
        case .each(let bound):
            IoTError(code, "this account has reached its limit of \(bound): \(things)", remedy: remedy)
        case .total(let bound):
            IoTError(code, "all \(bound) are in use: \(things)", remedy: remedy)
        }
    }
}
