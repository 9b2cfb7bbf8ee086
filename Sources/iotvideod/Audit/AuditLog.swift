import Foundation
import Gateway
import IoTCore
import IoTLink
import Logging
import NIOCore
import Synchronization

/// Records who changed what and which requests were refused: one JSON line each, never a secret or a body.
///
/// Changes and refusals have separate files, so that refusals cannot displace changes: `audit.log` and
/// `audit-refused.log`, mode 0600. At most `refusalsPerSecond` refusals are written per second; the next line contains
/// the number of omitted ones. At its maximum size a file is renamed to `….1` and replaces the previous one.
final class AuditLog: Sendable {
    struct Entry: Sendable, Equatable {
        /// ms since 1970.
        var t: Int64
        var caller: Caller?
        /// The address of the other end; `nil` for the Unix socket.
        var remote: String?
        var method: String
        var path: String
        var status: Int
        /// 0, or the error's number.
        var code: Int
    }

    static let defaultMaximumSize = 10 << 20
    static let refusalsPerSecond = 10
    /// Longer paths are truncated to this number of characters.
    private static let maximumPath = 512

    private struct State {
        var changes: RotatedFile
        var refusals: RotatedFile
        /// Start of the current second, and the number of refusals written in it.
        var second = NIODeadline.uptimeNanoseconds(0)
        var written = 0
        /// Refusals that were omitted after the last written one.
        var left = 0
    }

    private let now: @Sendable () -> NIODeadline
    private let state: Mutex<State>

    /// - Parameter directory: the directory of both files.
    init(
        directory: String, maximumSize: Int = defaultMaximumSize,
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        logger: Logger
    ) {
        self.now = now
        func file(_ name: String) -> RotatedFile {
            let path = directory + "/" + name
            return RotatedFile(path: path, maximumSize: maximumSize) { error in
                logger.error("the audit log \(path) cannot be written: \(error)")
            }
        }
        state = Mutex(State(changes: file("audit.log"), refusals: file("audit-refused.log")))
    }

    /// Writes executed requests to one file and refused ones to the other.
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

    /// Opens the files again, because another program may have renamed them.
    func reopen() {
        state.withLock { state in
            state.changes.reopen()
            state.refusals.reopen()
        }
    }

    private static func line(_ entry: Entry, left: Int) -> Data {
        var members: [String: JSONValue] = [
            "t": .integer(entry.t), "method": .string(entry.method),
            "path": .string(String(withoutKeys(entry.path).prefix(maximumPath))),
            "status": .integer(Int64(entry.status)), "code": .integer(Int64(entry.code)),
            "who": entry.caller.map(who) ?? .null,
        ]
        if left > 0 { members["left"] = .integer(Int64(left)) }
        if let remote = entry.remote { members["remote"] = .string(remote) }
        return Data((JSONValue.object(members).jsonText + "\n").utf8)
    }

    /// Clients may send a media key in place of its id. Only the id is kept.
    private static func withoutKeys(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { MediaKey(String($0))?.id ?? String($0) }.joined(separator: "/")
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
