import Foundation
import NIOCore
import Synchronization
import Testing

@testable import MediaPlayer

@Suite struct SerialWorkerTests {
    @Test("Jobs run in order, including patient ones", .timeLimit(.minutes(1)))
    func order() async {
        let worker = SerialWorker(name: "order", limit: 1_000)
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        for index in 0..<500 {
            worker.submit(patience: index % 3 == 0 ? 0 : 4) {
                continuation.yield(index)
                if index == 499 { continuation.finish() }
            }
        }
        worker.submit {}
        var received: [Int] = []
        for await number in numbers { received.append(number) }
        #expect(received == Array(0..<500))
        worker.stop()
    }

    @Test("When enough patient jobs wait, they run without another job", .timeLimit(.minutes(1)))
    func patience() async {
        let worker = SerialWorker(name: "patience", limit: 100)
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        for index in 0..<5 {
            worker.submit(patience: 4) { continuation.yield(index) }
        }
        var iterator = numbers.makeAsyncIterator()
        for index in 0..<5 { #expect(await iterator.next() == index) }
        worker.stop()
    }

    @Test("A released worker runs its waiting jobs and ends its thread", .timeLimit(.minutes(1)))
    func abandoned() async throws {
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        var worker: SerialWorker? = SerialWorker(name: "abandoned", limit: 100)
        worker?.submit {
            continuation.yield(1)
            continuation.finish()
        }
        #expect(await numbers.first { _ in true } == 1)
        #expect(try Self.threads(named: "abandoned") == 1)
        worker = nil
        while try Self.threads(named: "abandoned") > 0 { await Task.yield() }
    }

    private static func threads(named name: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { task in
            // A thread may end during the search.
            let text = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return text?.trimmingCharacters(in: .newlines) == name
        }
    }

    @Test("A stopped worker runs its waiting jobs and takes no more", .timeLimit(.minutes(1)))
    func stopping() async {
        let worker = SerialWorker(name: "stopping", limit: 100)
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        worker.submit(patience: 4) {
            continuation.yield(1)
            continuation.finish()
        }
        worker.stop()
        #expect(worker.submit {} == false)
        var count = 0
        for await _ in numbers { count += 1 }
        #expect(count == 1)
    }

    @Test("A full queue refuses a job, but not its end", .timeLimit(.minutes(1)))
    func limit() async {
        let worker = SerialWorker(name: "limit", limit: 2)
        let gate = DispatchSemaphore(value: 0)
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let (begins, beginning) = AsyncStream.makeStream(of: Void.self)
        worker.submit {
            beginning.finish()
            gate.wait()
        }
        for await _ in begins {}
        #expect(worker.submit {})
        #expect(worker.submit {})
        #expect(!worker.submit {})
        #expect(worker.submit(beyondLimit: true) { continuation.finish() })
        gate.signal()
        for await _ in ends {}
        worker.stop()
    }
}
