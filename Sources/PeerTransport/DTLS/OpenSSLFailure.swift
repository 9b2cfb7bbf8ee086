import COpenSSL
import IoTCore

/// Makes errors with OpenSSL's description of the failure, from the calling thread's error queue.
enum OpenSSLFailure {
    static func error(_ what: String) -> IoTError {
        guard let reason = takeReason() else { return IoTError(.peerFailed, what) }
        return IoTError(.peerFailed, "\(what): \(reason)")
    }

    /// Empties the queue, because an error left in it would be attributed to the next call.
    static func takeReason() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let text = ERR_reason_error_string(code) else { return nil }
        return String(cString: text)
    }
}
