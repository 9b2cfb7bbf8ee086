import IoTCore
import NIOCore

/// Decides when a camera's back channel is opened and closed. A value without I/O.
///
/// It is opened at the first sound, because a request for it can silence a doorbell's button (AlexxIT/go2rtc#95), and
/// closed 5 s after the last: until then silence lets a camera with a long buffer play the rest.
struct BackChannelGate {
    enum State { case closed, opening, open }

    enum Answer {
        /// Open a session now.
        case open
        /// A session is being opened.
        case wait
        case ready
        case refused(IoTError)
    }

    static let linger = TimeAmount.seconds(5)
    /// How long a camera that has refused is not asked again. A wrong password pauses longer (`SourceRetry`).
    static let refusalPause = TimeAmount.seconds(60)

    private(set) var state = State.closed
    private var refusal: (error: IoTError, until: NIODeadline)?
    private var retry = SourceRetry()
    private var lastSound: NIODeadline

    init(at now: NIODeadline) { lastSound = now }

    /// Somebody speaks.
    mutating func request(at now: NIODeadline) -> Answer {
        lastSound = now
        switch state {
        case .open: return .ready
        case .opening: return .wait
        case .closed:
            if let refusal, now < refusal.until { return .refused(refusal.error) }
            state = .opening
            return .open
        }
    }

    mutating func opened() {
        state = .open
        refusal = nil
        retry.opened()
    }

    /// The session has failed. A session that was open before may be opened again at once.
    mutating func failed(_ error: IoTError, at now: NIODeadline) {
        if state == .opening {
            let pause = retry.pause(after: error) { $0.upperBound }
            refusal = (error, now + max(Self.refusalPause, .milliseconds(pause)))
        }
        state = .closed
    }

    /// Why the camera is not asked now; `nil` if it may be.
    func failure(at now: NIODeadline) -> IoTError? {
        guard state == .closed, let refusal, now < refusal.until else { return nil }
        return refusal.error
    }

    /// Closes the session if nobody has spoken for long enough.
    ///
    /// - Returns: Whether to end the session.
    mutating func closes(at now: NIODeadline) -> Bool {
        guard state == .open, now >= lastSound + Self.linger else { return false }
        state = .closed
        return true
    }

    mutating func close() { state = .closed }
}
