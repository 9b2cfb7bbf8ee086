import Glibc
import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// Opening and closing leaves nothing behind. `SOAK_CYCLES` says how often; 500 without it.
@Suite struct PeerSoakTests {
    @Test(
        "Many cycles of opening and closing leave memory, descriptors and threads where they were",
        .timeLimit(.minutes(60)))
    func soak() async {
        // In a process of its own: other tests open sockets at the same time.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            // Swift Testing keeps a backtrace for each address at which an error was ever thrown, and NIO throws one for
            // each socket that is bound: 40,000 cycles left 7 MiB of them, which would hide as much of ours.
            watchThrownErrors(nil)
            let cycles = getenv("SOAK_CYCLES").flatMap { Int(String(cString: $0)) } ?? 500
            // What is made once is made by then.
            try await Soak.run(cycles: 100)
            print(Soak.Facts().line)
            for _ in 0..<4 {
                try await Soak.run(cycles: cycles / 4)
                print(Soak.Facts().line)
            }
        }
        let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
        let facts = lines.compactMap { Soak.Facts(line: $0) }
        guard facts.count == 5 else { return _ = Issue.record("the process told nothing: \(lines)") }
        print(facts.map(\.description).joined(separator: "\n"))
        #expect(facts[4].descriptors <= facts[0].descriptors)
        #expect(facts[4].threads <= facts[0].threads + 2)
        // Arenas settle within a MiB; a leak of 100 bytes a cycle would be 4 MiB after 40,000 cycles.
        #expect(facts[4].memory <= facts[0].memory + (3 << 20), "\(facts)")
    }
}

/// malloc_trim(3), which Glibc's module does not show.
@_silgen_name("malloc_trim")
private func giveMemoryBack(_ padding: Int) -> CInt

/// Whom Swift's runtime tells of each error that is thrown: Swift Testing, until somebody else.
@_silgen_name("_swift_setWillThrowHandler")
private func watchThrownErrors(_ handler: (@convention(c) (UnsafeMutableRawPointer) -> Void)?)

enum Soak {
    struct Facts: CustomStringConvertible {
        /// Bytes of memory that it has written. Its files do not count: what the linker just wrote of the program is
        /// "private and dirty" until the disk has it, and would hide a growth.
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

        /// How one process tells another.
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

    /// Eight at a time, as the pace of checks and not the processor makes one take its time.
    static func run(cycles: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<cycles {
                if index >= 8 { try await group.next() }
                group.addTask { try await cycle(index) }
            }
            try await group.waitForAll()
        }
    }

    /// Two sockets are bound, two peers connect, a frame crosses, one side closes, the sockets close.
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
            // By turns the side that closes and the one that is told.
            let (closing, other) = index % 2 == 0 ? (camera, viewer) : (viewer, camera)
            try await closing.run { $0.close() }
            guard case .closed? = await other.end() else {
                throw IoTError(.peerFailed, "cycle \(index) was not closed")
            }
        }
    }
}
