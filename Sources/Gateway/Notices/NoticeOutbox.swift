import GatewayAPI
import IoTCore
import NIOCore

/// The notices of one account that wait, and what has become of the others. One is sent at a time.
struct NoticeOutbox: Sendable {
    /// One for each device; with more devices the oldest is left out.
    static let maximumWaiting = 64
    /// A device that comes and goes must not use up the receiver, nor this machine's connections.
    static let maximumPerHour = 120

    private var waiting: [OfflineNotice] = []
    private var isSending = false
    private var hour: NIODeadline?
    private var startedInHour = 0
    private(set) var sent = 0
    private(set) var failed = 0
    private(set) var dropped = 0
    private(set) var failure: IoTError?

    /// Only the newest state of a device counts: it takes the place of one that waits.
    mutating func add(_ notice: OfflineNotice) {
        waiting.removeAll { $0.device == notice.device }
        if waiting.count == Self.maximumWaiting {
            waiting.removeFirst()
            dropped += 1
        }
        waiting.append(notice)
    }

    /// The next notice to send; `nil` while one is being sent, or if none waits. Those beyond the hour's number are left
    /// out.
    mutating func begin(at now: NIODeadline) -> OfflineNotice? {
        guard !isSending, !waiting.isEmpty else { return nil }
        if hour.map({ now - $0 >= .hours(1) }) ?? true { (hour, startedInHour) = (now, 0) }
        guard startedInHour < Self.maximumPerHour else {
            dropped += waiting.count
            waiting = []
            return nil
        }
        startedInHour += 1
        isSending = true
        return waiting.removeFirst()
    }

    /// Whether a newer state of the device waits, so that the one that is being sent need not be tried again.
    func isOutdated(_ notice: OfflineNotice) -> Bool { waiting.contains { $0.device == notice.device } }

    /// - Parameter error: `nil` if the receiver has taken the notice.
    mutating func finish(_ error: IoTError?) {
        isSending = false
        failure = error
        if error == nil { sent += 1 } else { failed += 1 }
    }
}
