import IoTCore
import Testing

@Suite struct ReadinessTests {
    @Test("Tasks that wait before and after the settling all get the first result")
    func settles() async throws {
        let readiness = Readiness<Int>()
        async let early = readiness.wait()
        readiness.settle(.success(1))
        readiness.settle(.success(2))
        #expect(try await early == 1)
        #expect(try await readiness.wait() == 1)
    }

    @Test("A failure reaches the waiting task")
    func fails() async {
        let readiness = Readiness<Int>()
        readiness.settle(.failure(IoTError(.fileFailed)))
        await #expect(throws: IoTError.self) { try await readiness.wait() }
    }

    @Test("Cancelling ends the wait")
    func cancels() async {
        let readiness = Readiness<Int>()
        let task = Task { try await readiness.wait() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
