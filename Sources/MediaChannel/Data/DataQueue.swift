package import IoTCore
package import NIOCore

/// What one reader has not taken yet. Confined to one event loop.
///
/// It has no bound of its own: each element with data belongs to a call's window (`DataFlow`) until it is taken.
final class DataQueue<Element: Sendable> {
    enum Next: Sendable {
        case element(Element)
        /// Nothing came for the time that the reader wanted to wait.
        case nothing
        case end
    }

    private let eventLoop: any EventLoop
    private var elements = CircularBuffer<(Element, onTaken: () -> Void)>()
    private var ending: Result<Void, IoTError>?
    private var reader: EventLoopPromise<Next>?
    private var timer: Scheduled<Void>?
    /// Called once, when the reader leaves before the end.
    var onLeft: () -> Void = {}

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    var count: Int { elements.count }
    var hasEnded: Bool { ending != nil }

    /// - Parameter onTaken: called once, when the element was taken or will not be.
    func push(_ element: Element, onTaken: @escaping () -> Void = {}) {
        guard ending == nil else { return onTaken() }
        if let reader = takeReader() {
            onTaken()
            return reader.succeed(.element(element))
        }
        elements.append((element, onTaken))
    }

    /// What was pushed is still delivered.
    func end(_ result: Result<Void, IoTError>) {
        guard ending == nil else { return }
        ending = result
        takeReader()?.completeWith(result.map { .end }.mapError { $0 as any Error })
    }

    /// The next element. Only one reader may wait.
    func next(within limit: TimeAmount?) -> EventLoopFuture<Next> {
        let promise = eventLoop.makePromise(of: Next.self)
        if let (element, onTaken) = elements.popFirst() {
            onTaken()
            promise.succeed(.element(element))
        } else if let ending {
            promise.completeWith(ending.map { .end }.mapError { $0 as any Error })
        } else if reader != nil {
            promise.fail(IoTError(.internalFailure, "two readers of one queue"))
        } else {
            reader = promise
            timer = limit.map { limit in
                eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in
                    guard let self else { return }
                    takeReader()?.succeed(.nothing)
                }
            }
        }
        return promise.futureResult
    }

    private func takeReader() -> EventLoopPromise<Next>? {
        timer?.cancel()
        timer = nil
        return reader.take()
    }

    /// The reader has left.
    func leave() {
        let isEarly = ending == nil
        end(.success(()))
        let untaken = elements
        elements.removeAll()
        for (_, onTaken) in untaken { onTaken() }
        if isEarly { onLeft() }
        onLeft = {}
    }

    deinit {
        reader?.succeed(.end)
    }
}

/// Elements that come over a channel's data connection, in order. An element takes a part of the window of its call until
/// it is read, so a slow reader slows its sender down. Releasing it ends the reading.
public final class DataReader<Element: Sendable>: AsyncSequence, Sendable {
    private let queue: NIOLoopBound<DataQueue<Element>>

    init(_ queue: DataQueue<Element>, on eventLoop: any EventLoop) {
        self.queue = NIOLoopBound(queue, eventLoop: eventLoop)
    }

    deinit { end() }

    /// Ends the reading: what was not read is dropped.
    package func end() {
        let queue = queue
        queue.eventLoop.execute { queue.value.leave() }
    }

    /// Waits at most `limit`.
    package enum Next: Sendable {
        case element(Element)
        case nothing
        case end
    }

    package func next(within limit: TimeAmount?) async throws(IoTError) -> Next {
        let queue = queue
        do {
            let next = try await withTaskCancellationHandler {
                try await queue.eventLoop.flatSubmit { queue.value.next(within: limit) }.get()
            } onCancel: {
                queue.eventLoop.execute { queue.value.leave() }
            }
            switch next {
            case .element(let element): return .element(element)
            case .nothing: return .nothing
            case .end: return .end
            }
        } catch {
            throw error as? IoTError ?? IoTError(.internalFailure, underlying: error)
        }
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: DataReader

        /// - Throws: an `IoTError`: why no more elements come.
        public mutating func next() async throws -> Element? {
            guard case .element(let element) = try await reader.next(within: nil) else { return nil }
            return element
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: self) }
}
