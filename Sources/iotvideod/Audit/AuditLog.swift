import Foundation
import Gateway
import IoTCore
import Logging
import NIOCore
import Synchronization

/// Who changed what, and who was refused: one JSON line each, never a secret nor a body.
///
/// Changes and refusals have files of their own, so that nobody's refusals take the place of a change: `audit.log` and
/// `audit-refused.log`, mode 0600. Of refusals at most `refusalsPerSecond` lines a second are written; the next line
/// says how many were not. Each file is bounded: at its greatest size it becomes `….1`, in place of an older one.
final class AuditLog: Sendable {
    struct Entry: Sendable, Equatable {
        /// ms since 1970.
        var t: Int64
        var caller: Caller?
        /// The other end's address; `nil` at the Unix socket.
        var remote: String?
        var method: String
        var path: String
        var status: Int
        /// 0, or the error's number.
        var code: Int
    }

    static let defaultMaximumSize = 10 << 20
    static let refusalsPerSecond = 10
    /// A path is cut off after so many bytes.
    private static let maximumPath = 512

    private struct State {
        var changes: AuditFile
        var refusals: AuditFile
        /// When the present second of refusals began, and how many of them were written in it.
        var second = NIODeadline.uptimeNanoseconds(0)
        var written = 0
        /// Refusals that were not written since the last one that was.
        var left = 0
    }

    private let now: @Sendable () -> NIODeadline
    private let state: Mutex<State>

    /// - Parameter directory: where the files are.
    init(
        directory: String, maximumSize: Int = defaultMaximumSize,
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        logger: Logger
    ) {
        self.now = now
        state = Mutex(
            State(
                changes: AuditFile(path: directory + "/audit.log", maximumSize: maximumSize, logger: logger),
                refusals: AuditFile(
                    path: directory + "/audit-refused.log", maximumSize: maximumSize, logger: logger)))
    }

    /// What was carried out goes to the one file, what was refused to the other.
    func write(_ entry: Entry) {
        let now = now()
        state.withLock { state in
            guard entry.status >= 400 else { return state.changes.write(Self.line(entry, left: 0)) }
            if now - state.second >= .seconds(1) {
                state.second = now
                state.written = 0
            }
            guard state.written < Self.refusalsPerSecond else {
                state.left += 1
                return
            }
            state.written += 1
            state.refusals.write(Self.line(entry, left: state.left))
            state.left = 0
        }
    }

    private static func line(_ entry: Entry, left: Int) -> Data {
        var members: [String: JSONValue] = [
            "t": .integer(entry.t), "method": .string(entry.method),
            "path": .string(String(entry.path.prefix(maximumPath))), "status": .integer(Int64(entry.status)),
            "code": .integer(Int64(entry.code)), "who": entry.caller.map(who) ?? .null,
        ]
        if left > 0 { members["left"] = .integer(Int64(left)) }
        if let remote = entry.remote { members["remote"] = .string(remote) }
        return Data((JSONValue.object(members).jsonText + "\n").utf8)
    }

    private static func who(_ caller: Caller) -> JSONValue {
        switch caller.credentials {
        case .socket(let user, let process):
            [
                "account": .string(caller.account.rawValue), "uid": .integer(Int64(user)),
                "pid": .integer(Int64(process)),
            ]
        case .token(let id): ["account": .string(caller.account.rawValue), "token": .string(id)]
        case .key(let id): ["account": .string(caller.account.rawValue), "key": .string(id)]
        }
    }
}
