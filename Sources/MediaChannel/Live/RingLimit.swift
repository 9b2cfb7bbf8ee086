import IoTCore
import IoTLink
import NIOCore

/// How often a camera rings for a caller who does not own it. A person must be able to ignore a caller. A value without
/// I/O.
struct RingLimit {
    /// The calls of one account that may ring in `time` without being accepted.
    static let calls = 5
    static let time = TimeAmount.minutes(10)
    /// The accounts whose calls have rung in `time`. No account loses its place to another.
    static let accounts = 64

    /// When the calls of an account began to ring.
    private var rung: [Principal: [NIODeadline]] = [:]

    /// - Throws: `tooManyRequests`.
    mutating func check(_ caller: Principal, at now: NIODeadline) throws(IoTError) {
        rung = rung.compactMapValues { times in
            let recent = times.filter { now - $0 < Self.time }
            return recent.isEmpty ? nil : recent
        }
        let times = rung[caller] ?? []
        if times.isEmpty, rung.count >= Self.accounts {
            throw IoTError(
                .tooManyRequests, "the calls of \(rung.count) other accounts have rung here", remedy: "call later")
        }
        guard times.count >= Self.calls, let first = times.first else { return }
        let wait = ((Self.time - (now - first)).nanoseconds + 999_999_999) / 1_000_000_000
        throw IoTError(
            .tooManyRequests, "your calls have rung \(times.count) times here, and nobody has accepted one",
            remedy: "call again in \(wait) s, or ask the camera's owner to accept")
    }

    mutating func begin(_ caller: Principal, at now: NIODeadline) throws(IoTError) {
        try check(caller, at: now)
        rung[caller, default: []].append(now)
    }

    /// Somebody has accepted a call of this caller.
    mutating func accepted(_ caller: Principal) { rung[caller] = nil }
}
