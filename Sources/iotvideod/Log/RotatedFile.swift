import Foundation
import IoTCore

/// A file to which lines are appended. At the maximum size it is renamed to `PATH.1`, which it replaces.
struct RotatedFile {
    let path: String
    let maximumSize: Int
    /// Called at the first of several failures.
    let onFailure: @Sendable (any Error) -> Void
    private var file: FileHandle?
    private var size = 0
    private var hasFailed = false

    init(path: String, maximumSize: Int, onFailure: @escaping @Sendable (any Error) -> Void) {
        self.path = path
        self.maximumSize = maximumSize
        self.onFailure = onFailure
    }

    mutating func write(_ line: Data) {
        do {
            if size + line.count > maximumSize { try rotate() }
            if file == nil { try open() }
            try file?.write(contentsOf: line)
            size += line.count
            hasFailed = false
        } catch {
            // Report the first failure only: a full disk must not fill the log as well.
            if !hasFailed { onFailure(error) }
            hasFailed = true
            file = nil
        }
    }

    /// The next line opens the file again, because another program may have renamed it.
    mutating func reopen() {
        file = nil
        size = 0
    }

    private mutating func open() throws {
        let descriptor = Foundation.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw IoTError(.fileFailed, String(cString: strerror(errno)))
        }
        _ = fchmod(descriptor, 0o600)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        size = Int(clamping: try file.seekToEnd())
        self.file = file
        if size > maximumSize { try rotate() }
    }

    private mutating func rotate() throws {
        file = nil
        guard rename(path, path + ".1") == 0 || errno == ENOENT else {
            throw IoTError(.fileFailed, String(cString: strerror(errno)))
        }
        size = 0
        try open()
    }
}
