import GatewayAPI
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization
import Testing

@testable import iotvideod

@Suite(.timeLimit(.minutes(1))) struct EventLinesTests {
    private static let count = 1_000

    /// What a client got of a source that always has another event, until it has given `count`.
    private func text(areKept: Bool, _ beforeWrite: @escaping @Sendable (_ given: Int) async -> Bool) async throws
        -> String
    {
        let given = Mutex(0)
        let events = AsyncStream(unfolding: {
            given.withLock { given -> Int? in
                guard given < Self.count else { return nil }
                given += 1
                return given
            }
        })
        let lines = EventLines(events: events, areKept: areKept, lease: nil, heartbeat: .seconds(60)) {
            ServerSentEvent(name: "number", data: "\($0)")
        }
        let collecting = CollectingWriter()
        var writer: any ResponseBodyWriter = SlowWriter(writer: collecting) {
            while await !beforeWrite(given.withLock { $0 }) { await Task.yield() }
        }
        try await lines.write(to: &writer)
        return String(buffer: collecting.storage.withLock { $0 })
    }

    @Test("A client that is slow gets every event that its source keeps, and none is taken from the source too early")
    func kept() async throws {
        let written = Mutex(0)
        let most = Mutex(0)
        let text = try await text(areKept: true) { given in
            let waiting = written.withLock { written in
                defer { written += 1 }
                return given - written
            }
            most.withLock { $0 = max($0, waiting) }
            for _ in 0..<10 { await Task.yield() }
            return true
        }
        #expect(text.split(separator: "\n").count { $0.hasPrefix("data: ") } == Self.count)
        #expect(!text.contains("slowReader") && text.contains("data: \(Self.count)\n"))
        #expect(most.withLock { $0 } <= 2)
    }

    @Test("A client that does not take 256 events of another source is told so, and its stream ends")
    func notKept() async throws {
        let text = try await text(areKept: false) { $0 > EventLines<Int>.capacity }
        #expect(text.contains("event: error\n") && text.contains("slowReader"))
        #expect(!text.contains("data: \(Self.count)\n"))
    }
}

/// Waits before each write.
private struct SlowWriter: ResponseBodyWriter {
    let writer: CollectingWriter
    let wait: @Sendable () async -> Void

    func write(_ buffer: ByteBuffer) async throws {
        await wait()
        try await writer.write(buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
