package import IoTCore
package import IoTLink
package import NIOCore
import Synchronization

/// A connection between a gateway and a device, over which both sides send requests. `run` moves its bytes.
package final class LANConnection: LinkRequester, Sendable {
    package typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The most requests that wait for a peer that does not read them, and their size in bytes. Then the connection
    /// ends. Answers do not wait here: as long as the peer does not read them, nothing more is read from it.
    private static let mostWaitingRequests = 128
    private static let mostWaitingBytes = 1 << 20
    /// After a message that is refused or ignored. A flood of them would otherwise keep a thread from all other tasks.
    private static let pause = Duration.milliseconds(2)

    private struct State {
        var exchange = LANExchange()
        var waiting: [String: CheckedContinuation<Result<JSONValue, IoTError>, Never>] = [:]
        var end: IoTError?
        /// The connection ends after the next answer.
        var lastAnswer = false
        /// Of requests that wait for the peer, in bytes.
        var unsent = 0
        var lastUse = NIODeadline.now()
    }

    private let state = Mutex(State())
    private let channel: any Channel
    /// Our requests on their way to the peer.
    private let requests: AsyncStream<[UInt8]>
    private let send: AsyncStream<[UInt8]>.Continuation

    package init(_ channel: any Channel) {
        self.channel = channel
        (requests, send) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostWaitingRequests))
    }

    package var isOpen: Bool { state.withLock { $0.end == nil } }
    /// Why the connection has ended.
    package var reason: IoTError { state.withLock { $0.end } ?? IoTError(.linkUnavailable, "the connection has ended") }
    /// When a request or an answer was last received.
    package var lastUse: NIODeadline { state.withLock { $0.lastUse } }

    /// - Throws: the code of the answer; 21002 if none came in time; the reason of the connection's end.
    package func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        let (id, message) = try state.withLock { state throws(IoTError) in
            if let end = state.end { throw end }
            return try state.exchange.ask(method, params, timeout: timeout)
        }
        let limit = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [weak self] in
            self?.settle(id, .failure(IoTError(.messageTimeout)))
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let end = state.withLock { state -> IoTError? in
                    guard state.end == nil else { return state.end }
                    state.waiting[id] = continuation
                    return nil
                }
                if let end { return continuation.resume(returning: .failure(end)) }
                post(message)
                // A cancellation before this found nothing to cancel.
                if Task.isCancelled { settle(id, .failure(IoTError(.messageTimeout))) }
            }
        } onCancel: {
            // Not here, because a handler runs under the cancelled task's lock, which resuming the task takes, too.
            channel.eventLoop.execute { [weak self] in self?.settle(id, .failure(IoTError(.messageTimeout))) }
        }
        limit.cancel()
        return try outcome.get()
    }

    /// Ends the connection. Requests that wait fail with the reason.
    package func close(_ reason: IoTError) {
        let waiting = state.withLock { state -> [CheckedContinuation<Result<JSONValue, IoTError>, Never>] in
            if state.end == nil { state.end = reason }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: .failure(reason)) }
        send.finish()
        channel.close(promise: nil)
    }

    /// Ends the connection when the answer to the request that runs now has been sent.
    func closeAfterAnswer() { state.withLock { $0.lastAnswer = true } }

    /// Calls `body` later, unless the result is cancelled.
    func later(_ time: TimeAmount, _ body: @escaping @Sendable () -> Void) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: time, body)
    }

    /// Reads and writes until the connection ends.
    ///
    /// - Parameters:
    ///   - limit: the largest message that is accepted now; asked before each message.
    ///   - handler: answers the other side's requests.
    package func run(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        limit: @escaping @Sendable () -> Int,
        handler: @escaping LinkSession.Handler
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await request in requests {
                    guard (try? await outbound.write(LANFrames.frame(request))) != nil else { return }
                    state.withLock { $0.unsent -= request.count }
                }
            }
            group.addTask {
                await withDiscardingTaskGroup { running in
                    await self.read(inbound, outbound, limit, handler, in: &running)
                    running.cancelAll()
                }
            }
            await group.next()
            close(IoTError(.linkUnavailable, "the connection on the local network has ended"))
            group.cancelAll()
        }
    }

    private func read(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ limit: () -> Int, _ handler: @escaping LinkSession.Handler,
        in running: inout DiscardingTaskGroup
    ) async {
        var frames = LANFrames(limit: limit())
        do {
            for try await bytes in inbound {
                frames.append(bytes)
                frames.limit = limit()
                while let message = try frames.next() {
                    let event = try state.withLock { state throws(IoTError) in
                        state.lastUse = .now()
                        return try state.exchange.receive(message, at: .now())
                    }
                    switch event {
                    case .asked(let request, let time):
                        running.addTask { await self.carryOut(request, within: time, handler, outbound) }
                    case .answered(let id, let reply): settle(id, reply.outcome)
                    case .refused(let answer):
                        try await outbound.write(LANFrames.frame(answer))
                        try await Task.sleep(for: Self.pause)
                    case .ignored: try await Task.sleep(for: Self.pause)
                    }
                    frames.limit = limit()
                }
            }
        } catch let error as IoTError {
            close(error)
        } catch {}
    }

    private func carryOut(
        _ request: LinkRequest, within limit: TimeAmount, _ handler: @escaping LinkSession.Handler,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async {
        let outcome: Result<JSONValue, IoTError>
        do {
            outcome = .success(
                try await within(Duration(limit), orThrow: IoTError(.operationTimeout)) { try await handler(request) })
        } catch let error as IoTError {
            outcome = .failure(error)
        } catch {
            outcome = .failure(IoTError(.stopping))
        }
        let (answer, isLast) = state.withLock { ($0.exchange.finish(request.id, outcome), $0.lastAnswer) }
        if let answer { try? await outbound.write(LANFrames.frame(answer)) }
        state.withLock { $0.exchange.answered() }
        if isLast { send.finish() }
    }

    private func post(_ request: [UInt8]) {
        let isTooMuch = state.withLock { state in
            state.unsent += request.count
            return state.unsent > Self.mostWaitingBytes
        }
        if !isTooMuch {
            guard case .dropped = send.yield(request) else { return }
        }
        close(IoTError(.slowReader, "the other side does not read its messages"))
    }

    private func settle(_ id: String, _ outcome: Result<JSONValue, IoTError>) {
        let continuation = state.withLock { state in
            state.exchange.giveUp(id)
            return state.waiting.removeValue(forKey: id)
        }
        continuation?.resume(returning: outcome)
    }
}
