import IoTCore
import MediaCodec
import NIOCore

/// A camera's loudspeaker, which talks use one after another: opened at the first sound, closed some seconds after the
/// last talk, never opened twice at a time. One that cannot be opened is not tried again for a while. Confined to the
/// camera's event loop.
final class TalkOutput {
    private enum State {
        case closed
        case opening(number: Int, wanted: [EventLoopPromise<Void>])
        case open
        /// Closing; who wants it open waits for the end.
        case closing(wanted: [EventLoopPromise<Void>])
    }

    /// How long it stays open after a talk: the next words often follow soon.
    static let linger = TimeAmount.seconds(5)
    /// How long opening may take, and how long a failure is the answer to later talks: a wrong password must not be tried
    /// again and again.
    static let openTimeout = TimeAmount.seconds(10)
    static let refusalTime = TimeAmount.seconds(10)

    private let eventLoop: any EventLoop
    private let make: () -> LoudspeakerHandle
    private var loudspeaker: LoudspeakerHandle?
    private var state = State.closed
    private var number = 0
    private var refusal: (error: IoTError, until: NIODeadline)?
    private var lingering: Scheduled<Void>?
    private var closed: [EventLoopPromise<Void>] = []

    /// - Parameter make: makes the loudspeaker each time that it is opened.
    init(eventLoop: any EventLoop, make: @escaping () -> LoudspeakerHandle) {
        self.eventLoop = eventLoop
        self.make = make
    }

    /// Completes when the loudspeaker is open.
    func open() -> EventLoopFuture<Void> {
        lingering?.cancel()
        lingering = nil
        let promise = eventLoop.makePromise(of: Void.self)
        switch state {
        case .open: promise.succeed()
        case .opening(let number, let wanted): state = .opening(number: number, wanted: wanted + [promise])
        case .closing(let wanted): state = .closing(wanted: wanted + [promise])
        case .closed:
            if let refusal, refusal.until > eventLoop.now {
                promise.fail(refusal.error)
            } else {
                connect([promise])
            }
        }
        return promise.futureResult
    }

    private func connect(_ wanted: [EventLoopPromise<Void>]) {
        number += 1
        let number = number
        state = .opening(number: number, wanted: wanted)
        let loudspeaker = make()
        self.loudspeaker = loudspeaker
        let timeout = eventLoop.assumeIsolated().scheduleTask(in: Self.openTimeout) { [weak self] in
            guard let self else { return }
            opened(number, IoTError(.messageTimeout, "the loudspeaker did not open in time"))
        }
        let output = NIOLoopBound(self, eventLoop: eventLoop)
        loudspeaker.open().whenComplete { result in
            timeout.cancel()
            switch result {
            case .success: output.value.opened(number, nil)
            case .failure(let error):
                output.value.opened(
                    number, error as? IoTError ?? IoTError(.internalFailure, underlying: error))
            }
        }
    }

    private func opened(_ number: Int, _ failure: IoTError?) {
        guard case .opening(number, let wanted) = state else { return }
        if let failure {
            refusal = (failure, eventLoop.now + Self.refusalTime)
            close()
            wanted.forEach { $0.fail(failure) }
        } else {
            refusal = nil
            state = .open
            wanted.forEach { $0.succeed() }
        }
    }

    /// - Throws: why the loudspeaker has ended by itself.
    func play(_ samples: [Int16]) throws(IoTError) {
        guard case .open = state, let loudspeaker else { return }
        if let failure = loudspeaker.failure() {
            close()
            throw failure
        }
        loudspeaker.play(samples)
    }

    /// Nobody talks any more.
    func rest() {
        guard lingering == nil else { return }
        lingering = eventLoop.assumeIsolated().scheduleTask(in: Self.linger) { [weak self] in
            guard let self else { return }
            lingering = nil
            close()
        }
    }

    /// Closes it; completes when it is closed.
    @discardableResult
    func close() -> EventLoopFuture<Void> {
        lingering?.cancel()
        lingering = nil
        let promise = eventLoop.makePromise(of: Void.self)
        switch state {
        case .closed:
            promise.succeed()
            return promise.futureResult
        case .closing:
            closed.append(promise)
            return promise.futureResult
        case .opening(_, let wanted):
            // Fails only those that still wait: after a failure they are told the reason.
            if refusal == nil { wanted.forEach { $0.fail(IoTError(.hungUp)) } }
        case .open: break
        }
        closed.append(promise)
        state = .closing(wanted: [])
        guard let loudspeaker else { return promise.futureResult }
        self.loudspeaker = nil
        let output = NIOLoopBound(self, eventLoop: eventLoop)
        loudspeaker.close().whenComplete { _ in output.value.hasClosed() }
        return promise.futureResult
    }

    private func hasClosed() {
        guard case .closing(let wanted) = state else { return }
        state = .closed
        let promises = closed
        closed = []
        promises.forEach { $0.succeed() }
        guard !wanted.isEmpty else { return }
        if let refusal, refusal.until > eventLoop.now {
            wanted.forEach { $0.fail(refusal.error) }
        } else {
            connect(wanted)
        }
    }
}
