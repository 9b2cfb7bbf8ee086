import Glibc
import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// Opening and closing leaks nothing. `SOAK_CYCLES` sets the number of cycles; default 500.
@Suite struct PeerSoakTests {
    @Test(
        "After many cycles of opening and closing, memory, descriptors and threads are as before",
        .timeLimit(.minutes(60)))
    func soak() async {
        // In a separate process, because other tests open sockets at the same time.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            // Swift Testing keeps a backtrace for each address that has thrown an error, and NIO throws one for each
            // bound socket. After 40,000 cycles that was 7 MiB, which would hide a leak of the same size.
            watchThrownErrors(nil)
            let cycles = getenv("SOAK_CYCLES").flatMap { Int(String(cString: $0)) } ?? 500
            // After this, all one-time allocations are done.
            try await Soak.run(cycles: 100)
            print(Soak.Facts().line)
            for _ in 0..<4 {
                try await Soak.run(cycles: cycles / 4)
                print(Soak.Facts().line)
            }
        }
        let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
        let facts = lines.compactMap { Soak.Facts(line: $0) }
        guard facts.count == 5 else { return _ = Issue.record("the process reported nothing: \(lines)") }
        print(facts.map(\.description).joined(separator: "\n"))
        #expect(facts[4].descriptors <= facts[0].descriptors)
        #expect(facts[4].threads <= facts[0].threads + 2)
        // Arenas vary by a MiB; a leak of 100 bytes per cycle would be 4 MiB after 40,000 cycles.
        #expect(facts[4].memory <= facts[0].memory + (3 << 20), "\(facts)")
    }
}

/// malloc_trim(3), which the Glibc module does not export.
@_silgen_name("malloc_trim")
private func giveMemoryBack(_ padding: Int) -> CInt

/// Sets the handler that Swift's runtime calls for each thrown error: Swift Testing's, until it is replaced.
@_silgen_name("_swift_setWillThrowHandler")
private func watchThrownErrors(_ handler: (@convention(c) (UnsafeMutableRawPointer) -> Void)?)

enum Soak {
    struct Facts: CustomStringConvertible {
        /// Bytes of private memory. Mapped files do not count: pages that the linker has just written are "private and
        /// dirty" until they are on disk, which would hide growth.
        var memory = 0
        var descriptors = 0
        var threads = 0

        init() {
            _ = giveMemoryBack(0)
            descriptors = Self.entries(of: "/proc/self/fd")
            threads = Self.entries(of: "/proc/self/task")
            guard let file = fopen("/proc/self/smaps_rollup", "r") else { return }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }
                if text.hasPrefix("Anonymous:") {
                    memory = (text.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
                }
            }
        }

        /// The form in which the child process reports.
        var line: String { "facts \(memory) \(descriptors) \(threads)" }

        init?(line: Substring) {
            let fields = line.split(separator: " ")
            guard fields.count == 4, fields[0] == "facts", let memory = Int(fields[1]),
                let descriptors = Int(fields[2]), let threads = Int(fields[3])
            else { return nil }
            (self.memory, self.descriptors, self.threads) = (memory, descriptors, threads)
        }

        private static func entries(of path: String) -> Int {
            guard let folder = opendir(path) else { return 0 }
            defer { closedir(folder) }
            var count = 0
            while readdir(folder) != nil { count += 1 }
            return count
        }

        var description: String {
            "\(memory >> 10) KiB, \(descriptors) descriptors, \(threads) threads"
        }
    }

    /// Eight at a time, because the pacing of checks and not the processor limits the speed.
    static func run(cycles: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<cycles {
                if index >= 8 { try await group.next() }
                group.addTask { try await cycle(index) }
            }
            try await group.waitForAll()
        }
    }

    /// Binds two sockets, connects two peers, sends a frame, closes one side, and closes the sockets.
    private static func cycle(_ index: Int) async throws {
        try await PeerSocketTests.withSockets { sockets in
            let camera = try await PeerSocketTests.Client(
                sockets[0], isControlling: true, sections: PeerSocketTests.sections)
            let viewer = try await PeerSocketTests.Client(sockets[1], isControlling: false)
            try await PeerSocketTests.connect(camera, viewer)
            guard await camera.becomesConnected(), await viewer.becomesConnected() else {
                throw IoTError(.peerFailed, "cycle \(index) did not connect")
            }
            var random = SeededGenerator(seed: UInt64(index))
            let frame = MediaFixtures.frame(MediaFixtures.h264, index: 0, using: &random)
            try await camera.run { peer in
                var packetizer = Packetizer(codec: MediaFixtures.h264)
                peer.send(try packetizer.packetize(frame), mid: "0")
            }
            // The sides alternate in closing.
            let (closing, other) = index % 2 == 0 ? (camera, viewer) : (viewer, camera)
            try await closing.run { $0.close() }
            guard case .closed? = await other.end() else {
                throw IoTError(.peerFailed, "cycle \(index) was not closed")
            }
        }
    }
}
