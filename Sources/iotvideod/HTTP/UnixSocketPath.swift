import Foundation
import IoTCore
import LinkHub

/// The path of the API's socket. Prepares and removes the socket file.
struct UnixSocketPath: Sendable {
    /// `sockaddr_un.sun_path` has 108 bytes, including the final zero (unix(7)).
    static let maximumLength = 107

    let path: String

    init(_ path: String) throws(IoTError) {
        guard (1...Self.maximumLength).contains(path.utf8.count), !path.utf8.contains(0) else {
            throw IoTError(
                .invalidConfiguration,
                "the socket's path is \(path.utf8.count) bytes long; the limit is \(Self.maximumLength): \(path)",
                remedy: "set a shorter path with `socket` or --socket")
        }
        self.path = path
    }

    /// Creates the directory if it does not exist, and removes the socket of a dead daemon.
    ///
    /// - Throws: `.alreadyRunning` if a daemon answers on the socket, `.fileFailed` if the file is not a socket.
    func prepare() throws(IoTError) {
        try makeDirectory()
        guard let type = attributes?[.type] as? FileAttributeType else { return }
        guard type == .typeSocket else {
            throw IoTError(
                .fileFailed, "\(path) exists and is not a socket", remedy: "move it away or use another path")
        }
        if let process = LoopbackProbe.listener(atSocket: path) {
            let holder = PortHolder.name(of: process).map { "\($0), process \(process)," } ?? "a daemon"
            throw IoTError(
                .alreadyRunning, "socket: \(holder) already answers on \(path)",
                remedy: "stop it, or use another --socket")
        }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw IoTError(.fileFailed, "cannot remove the old socket \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Allows only the owner and the group to connect.
    func restrict() throws(IoTError) {
        guard chmod(path, 0o660) == 0 else {
            throw IoTError(.fileFailed, "cannot set the permissions of \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// The inode number of the file at the path; `nil` if there is none.
    var identity: Int? {
        attributes?[.systemFileNumber] as? Int
    }

    /// Symbolic links are not followed.
    private var attributes: [FileAttributeKey: Any]? {
        try? FileManager.default.attributesOfItem(atPath: path)
    }

    func remove(ifStill identity: Int?) {
        if identity != nil, self.identity == identity { unlink(path) }
    }

    private func makeDirectory() throws(IoTError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        // Creates only the last directory: a mistyped path must not create a tree.
        guard mkdir(directory, 0o750) == 0 || errno == EEXIST else {
            throw IoTError(
                .fileFailed, "cannot create the socket's directory \(directory): \(String(cString: strerror(errno)))")
        }
    }
}
