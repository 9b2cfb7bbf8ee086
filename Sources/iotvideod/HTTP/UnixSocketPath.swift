import Foundation
import IoTCore
import LinkHub

/// The path of the API's socket, and what to do with what stands there.
struct UnixSocketPath: Sendable {
    /// `sockaddr_un.sun_path` holds 108 bytes with the final zero (unix(7)).
    static let maximumLength = 107

    let path: String

    init(_ path: String) throws(IoTError) {
        guard (1...Self.maximumLength).contains(path.utf8.count), !path.utf8.contains(0) else {
            throw IoTError(
                .invalidConfiguration,
                "the socket's path is \(path.utf8.count) bytes long and may be \(Self.maximumLength): \(path)",
                remedy: "name a shorter one with `socket` or --socket")
        }
        self.path = path
    }

    /// Makes the directory where it is missing and removes a dead daemon's socket.
    ///
    /// - Throws: `.alreadyRunning` when a daemon answers there, `.fileFailed` for anything that is no socket.
    func prepare() throws(IoTError) {
        try makeDirectory()
        guard let type = attributes?[.type] as? FileAttributeType else { return }
        guard type == .typeSocket else {
            throw IoTError(
                .fileFailed, "\(path) exists and is no socket", remedy: "move it away or choose another path")
        }
        if let process = LoopbackProbe.listener(atSocket: path) {
            let holder = PortHolder.name(of: process).map { "\($0), process \(process)," } ?? "a daemon"
            throw IoTError(
                .alreadyRunning, "socket: \(holder) already answers on \(path)",
                remedy: "stop it, or take another --socket")
        }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw IoTError(.fileFailed, "the old socket \(path) cannot be removed: \(String(cString: strerror(errno)))")
        }
    }

    /// Lets the owner and the group connect, nobody else.
    func restrict() throws(IoTError) {
        guard chmod(path, 0o660) == 0 else {
            throw IoTError(.fileFailed, "the rights of \(path) cannot be set: \(String(cString: strerror(errno)))")
        }
    }

    /// Which file stands there now; `nil` for none.
    var identity: Int? {
        attributes?[.systemFileNumber] as? Int
    }

    /// Of what stands there itself, links not followed.
    private var attributes: [FileAttributeKey: Any]? {
        try? FileManager.default.attributesOfItem(atPath: path)
    }

    func remove(ifStill identity: Int?) {
        if identity != nil, self.identity == identity { unlink(path) }
    }

    private func makeDirectory() throws(IoTError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        // Only the last step: a mistyped path must not grow a tree.
        guard mkdir(directory, 0o750) == 0 || errno == EEXIST else {
            throw IoTError(
                .fileFailed, "the socket's directory \(directory) cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}
