import Foundation
import Testing

/// Simulated capture devices for a daemon. `Tests/Support/v4l2_devices.c` implements and describes them.
struct FakeDevices {
    private let folder: TemporaryFolder
    private let library: String

    init() async throws {
        folder = try TemporaryFolder()
        library = folder.path("v4l2_devices.so")
        try FileManager.default.createDirectory(atPath: folder.path("devices"), withIntermediateDirectories: false)
        let source = Product.root.appendingPathComponent("Tests/Support/v4l2_devices.c").path
        let outcome = try await Program.named("cc", ["-O2", "-shared", "-fPIC", "-o", library, source]).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    /// For `RunningDaemon(prefix:)`.
    var prefix: [String] { ["LD_PRELOAD=\(library)", "V4L2_DEVICES=\(folder.path("devices"))"] }

    /// Connects a device, or changes it while it is in use.
    func plug(_ name: String, _ lines: String...) throws {
        try lines.joined(separator: "\n").write(
            toFile: folder.path("devices/\(name)"), atomically: true, encoding: .utf8)
    }

    func unplug(_ name: String) throws {
        try FileManager.default.removeItem(atPath: folder.path("devices/\(name)"))
    }

    /// Converts a sample with ffmpeg, and writes the result as buffers: each `mark` begins a buffer.
    func payload(_ sample: String, _ options: [String], before mark: [UInt8]) async throws -> String {
        let stream = folder.path("stream-" + UUID().uuidString)
        let outcome = try await Program.named(
            "ffmpeg", ["-v", "error", "-i", Product.sample(sample), "-an"] + options + ["-y", stream]
        ).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        let data = try Data(contentsOf: URL(fileURLWithPath: stream))
        var starts: [Int] = []
        var position = data.startIndex
        while let found = data.range(of: Data(mark), in: position..<data.endIndex) {
            starts.append(found.lowerBound)
            position = found.upperBound
        }
        try #require(starts.first == 0)
        var payload = Data()
        for (start, end) in zip(starts, starts.dropFirst() + [data.count]) {
            withUnsafeBytes(of: UInt32(end - start).littleEndian) { payload.append(contentsOf: $0) }
            payload.append(data[start..<end])
        }
        let file = stream + ".payload"
        try payload.write(to: URL(fileURLWithPath: file))
        return file
    }
}
