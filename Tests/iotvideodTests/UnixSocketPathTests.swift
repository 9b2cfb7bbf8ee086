import Foundation
import IoTCore
import Testing

@testable import iotvideod

@Suite struct UnixSocketPathTests {
    /// Creates a listening socket at `path`.
    private func listen(_ path: String) throws -> FileHandle {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        try #require(Glibc.listen(descriptor, 1) == 0)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    @Test("A path that is too long for the kernel's structure is refused first")
    func length() {
        #expect(throws: Never.self) { try UnixSocketPath(String(repeating: "x", count: 107)) }
        let error = #expect(throws: IoTError.self) { try UnixSocketPath(String(repeating: "x", count: 108)) }
        #expect(error?.code == .invalidConfiguration)
        #expect(throws: IoTError.self) { try UnixSocketPath("") }
    }

    @Test("A running daemon's socket is kept, a dead one's is removed")
    func stale() async throws {
        try await withTemporaryDirectory { directory in
            let path = try UnixSocketPath(directory + "/s")
            let listener = try listen(path.path)
            let error = #expect(throws: IoTError.self) { try path.prepare() }
            #expect(error?.code == .alreadyRunning)
            #expect(path.identity != nil)
            try listener.close()
            try path.prepare()
            #expect(path.identity == nil)
        }
    }

    @Test("A user's file is never removed")
    func foreignFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = try UnixSocketPath(directory + "/s")
            try "mine".write(toFile: path.path, atomically: true, encoding: .utf8)
            let error = #expect(throws: IoTError.self) { try path.prepare() }
            #expect(error?.code == .fileFailed)
            #expect(FileManager.default.fileExists(atPath: path.path))
            path.remove(ifStill: -1)
            #expect(FileManager.default.fileExists(atPath: path.path))
        }
    }

    @Test("Only the last directory is created, not a whole tree")
    func directory() async throws {
        try await withTemporaryDirectory { directory in
            try UnixSocketPath(directory + "/new/s").prepare()
            #expect(FileManager.default.fileExists(atPath: directory + "/new"))
            #expect(throws: IoTError.self) { try UnixSocketPath(directory + "/a/b/s").prepare() }
        }
    }
}
