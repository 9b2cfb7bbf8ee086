import Gateway
import IoTCore
import RTSP

/// Counts the requests of RTSP players, and writes refusals to the audit log, as `RecordMiddleware` does for HTTP.
/// Other requests have no line, because a player cannot change anything.
struct RTSPRecord: Sendable {
    let audit: AuditLog?
    let metrics: MetricsRegistry

    private static let methods: Set<RTSPMethod> = [
        .options, .describe, .setup, .play, .pause, .teardown, .getParameter, .announce, .record, .setParameter,
    ]
    private static let refusals: Set<RTSPStatus> = [.unauthorized, .forbidden, .notEnoughBandwidth]

    /// - Parameter remote: The player's address.
    func write(_ answered: AnsweredRequest, caller: Caller?, remote: String?) {
        // Labels contain only our own words, never text that a client sent.
        let method = Self.methods.contains(answered.method) ? answered.method.rawValue : "other"
        metrics.series(
            "iotvideod_rtsp_requests", [("method", method), ("status", String(answered.status.rawValue))], .counter
        ).increment(by: Int64(1))
        guard let audit, Self.refusals.contains(answered.status) else { return }
        audit.write(
            AuditLog.Entry(
                t: WallClock.milliseconds(), caller: caller, remote: remote,
                method: String(answered.method.rawValue.prefix(16)), path: Self.path(answered.uri),
                status: answered.status.rawValue, code: answered.code))
    }

    /// Without the login and the query of the URL, which may contain secrets.
    private static func path(_ uri: String) -> String {
        let path = ServiceURL(uri, maximumSize: 4_096, checksName: false)?.path ?? "*"
        return String(path.prefix { $0 != "?" })
    }
}
