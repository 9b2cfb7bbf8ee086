import Foundation
import TestSupport
import Testing

/// An ext4 file system in a file, which a loop device makes a disk. Needs root.
final class LoopDisk {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let isAvailable = geteuid() == 0 && FileManager.default.fileExists(atPath: "/dev/loop-control")

    let mountPoint: String
    private let device: String
    /// `loop0`
    private var name: String { URL(fileURLWithPath: device).lastPathComponent }

    /// - Parameters:
    ///   - image: a file with a file system.
    ///   - mountPoint: is created.
    init(image: String, at mountPoint: String) throws {
        self.mountPoint = mountPoint
        try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: true)
        device = try Self.run(["losetup", "--find", "--show", image])
        try mount()
    }

    deinit {
        _ = try? Self.run(["umount", "--lazy", mountPoint])
        _ = try? Self.run(["losetup", "--detach", device])
    }

    func mount() throws { try Self.run(["mount", device, mountPoint]) }

    /// - Parameter lazily: also while files are open, as if the disk had been pulled out with its directory.
    func unmount(lazily: Bool = false) throws {
        try Self.run(["umount"] + (lazily ? ["--lazy"] : []) + [mountPoint])
    }

    /// Whether the kernel still has the file system: it is mounted, or files of it are open.
    var isInUse: Bool { FileManager.default.fileExists(atPath: "/sys/fs/ext4/\(name)") }

    static func makeImage(_ path: String, megabytes: Int) throws {
        try run(["truncate", "--size", "\(megabytes)M", path])
        // Nothing is reserved for root, and nothing is initialised later in the background.
        try run(["mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", path])
    }

    @discardableResult
    static func run(_ command: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.start()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(command.joined(separator: " ")): \(output)")
        }
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
