import Foundation
import IoTCore
import Logging
import Synchronization

/// Who changed what, and who was refused: one JSON line each, never a secret nor a body.
///
/// The file has mode 0600 and is bounded: at `maximumSize` it becomes `audit.log.1`, in place of an older one.
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
    /// A path is cut off behind so many bytes.
    private static let maximumPath = 512

    private struct State {
        var file: FileHandle?
        var size = 0
        var hasFailed = false
    }

    let path: String
    private let maximumSize: Int
    private let logger: Logger
    private let state = Mutex(State())

    init(path: String, maximumSize: Int = defaultMaximumSize, logger: Logger) {
        self.path = path
        self.maximumSize = maximumSize
        self.logger = logger
    }

    func write(_ entry: Entry) {
        let line = Self.line(entry)
        state.withLock { state in
            do {
                if state.size + line.count > maximumSize { try rotate(&state) }
                if state.file == nil { try open(&state) }
                try state.file?.write(contentsOf: line)
                state.size += line.count
                state.hasFailed = false
            } catch {
                // Once a failure, not once a line: a full disk must not fill the log too.
                if !state.hasFailed { logger.error("the audit log \(path) cannot be written: \(error)") }
                state.hasFailed = true
                state.file = nil
            }
        }
    }

    private func open(_ state: inout State) throws {
        let descriptor = Foundation.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw IoTError(.fileFailed, String(cString: strerror(errno)))
        }
        _ = fchmod(descriptor, 0o600)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        state.size = Int(clamping: try file.seekToEnd())
        state.file = file
        if state.size > maximumSize { try rotate(&state) }
    }

    private func rotate(_ state: inout State) throws {
        state.file = nil
        guard rename(path, path + ".1") == 0 || errno == ENOENT else {
            throw IoTError(.fileFailed, String(cString: strerror(errno)))
        }
        state.size = 0
        try open(&state)
    }

    private static func line(_ entry: Entry) -> Data {
        var members: [String: JSONValue] = [
            "t": .integer(entry.t), "method": .string(entry.method),
            "path": .string(String(entry.path.prefix(maximumPath))), "status": .integer(Int64(entry.status)),
            "code": .integer(Int64(entry.code)), "who": entry.caller.map(who) ?? .null,
        ]
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
        }
    }
}
