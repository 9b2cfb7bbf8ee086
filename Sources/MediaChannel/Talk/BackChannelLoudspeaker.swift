package import IoTCore
package import Logging
import MediaCodec
package import NIOCore
package import RTSP
import Synchronization

/// Plays on the loudspeaker of an RTSP camera, through its ONVIF back channel: a session apart from the one that reads
/// the camera.
///
/// The session is opened at the first sound, and closed by `close` or 5 s after the last sound. Before that, the camera
/// is not asked whether it has a back channel.
package final class BackChannelLoudspeaker: Loudspeaker {
    private struct State {
        var gate: BackChannelGate
        var session: RTSPClientSession?
        /// Events of other sessions are ignored.
        var number = 0
        var voice: Voice?
        /// What was spoken while the session was opened, in 48 kHz.
        var early: [Int16] = []
        var waiting: [CheckedContinuation<Result<Void, IoTError>, Never>] = []
        var timer: RepeatedTask?

        mutating func keep(_ samples: [Int16]) {
            early += samples
            if early.count > earlyLimit { early.removeFirst(early.count - earlyLimit) }
        }
    }

    private struct Voice {
        var encoder: TalkEncoder
        var feed: BackChannelFeed
        let packetSize: Int
    }

    private let configuration: RTSPClientConfiguration
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let state: Mutex<State>

    /// The most sound that is kept while the session is opened: 0.4 s. Then the oldest is dropped.
    private static let earlyLimit = TalkEncoder.sampleRate * 2 / 5
    private static let tick = TimeAmount.milliseconds(10)

    /// - Parameter configuration: The camera's URL, login and transport. Its purpose is set here.
    package init(_ configuration: RTSPClientConfiguration, eventLoop: any EventLoop, logger: Logger) {
        var configuration = configuration
        configuration.purpose = .backChannel
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.logger = logger
        state = Mutex(State(gate: BackChannelGate(at: .now())))
    }

    deinit {
        let (session, timer) = state.withLock { ($0.session, $0.timer) }
        timer?.cancel()
        session?.stop()
    }

    // MARK: Loudspeaker

    /// Opens the session, unless it is open.
    ///
    /// - Throws: `backChannelMissing`, `sourceBusy`, `sourceRefused` and the other errors of an RTSP camera. For a
    ///   minute, the camera is not asked again.
    package func open() async throws(IoTError) {
        try await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                let answer = state.gate.request(at: .now())
                switch answer {
                case .open, .wait: state.waiting.append(continuation)
                case .ready, .refused: break
                }
                return answer
            }
            switch answer {
            case .open: connect()
            case .wait: break
            case .ready: continuation.resume(returning: .success(()))
            case .refused(let error): continuation.resume(returning: .failure(error))
            }
        }.get()
    }

    package func play(_ samples: [Int16]) {
        let now = NIODeadline.now()
        let opens = state.withLock { state in
            switch state.gate.request(at: now) {
            case .ready: Self.play(samples, &state, at: now)
            case .open:
                state.keep(samples)
                return true
            case .wait: state.keep(samples)
            case .refused: break
            }
            return false
        }
        if opens { connect() }
    }

    package var failure: IoTError? { state.withLock { $0.gate.failure(at: .now()) } }

    /// Ends the session at once. What the camera has in its buffer may be lost.
    package func close() async {
        end()?.stop()
        // Until the session has sent TEARDOWN, which it does on the event loop.
        try? await eventLoop.submit {}.get()
    }

    // MARK: Session

    private func connect() {
        let (number, earlier) = state.withLock { state in
            state.number += 1
            let earlier = state.session
            state.session = nil
            return (state.number, earlier)
        }
        // After `close` and `open` at the same time, two threads may be here.
        earlier?.stop()
        let session = RTSPClientSession(configuration, eventLoop: eventLoop) { [weak self] event in
            self?.take(event, of: number)
        }
        let isCurrent = state.withLock { state in
            guard state.number == number, state.gate.state == .opening else { return false }
            state.session = session
            return true
        }
        if isCurrent { session.start() }
    }

    private func take(_ event: RTSPClientSession.Event, of number: Int) {
        switch event {
        case .opened, .frame: break
        case .backChannelOpened(let format, let profile): opened(format, profile, number)
        case .failed(let error): failed(error, number)
        }
    }

    private func opened(_ format: BackChannelFormat, _ profile: BackChannelProfile, _ number: Int) {
        let now = NIODeadline.now()
        let result: Result<[CheckedContinuation<Result<Void, IoTError>, Never>], IoTError> = state.withLock { state in
            guard state.number == number, state.gate.state == .opening else { return .success([]) }
            do throws(IoTError) {
                state.voice = Voice(
                    encoder: try TalkEncoder(format.parameters), feed: BackChannelFeed(format, profile),
                    packetSize: profile.sampleCount(format))
            } catch {
                return .failure(error)
            }
            state.gate.opened()
            state.timer = eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { [weak self] _ in
                self?.tick()
            }
            let (early, waiting) = (state.early, state.waiting)
            (state.early, state.waiting) = ([], [])
            if !early.isEmpty { Self.play(early, &state, at: now) }
            return .success(waiting)
        }
        switch result {
        case .success(let waiting):
            logger.info(
                "the camera's back channel is open",
                metadata: ["codec": "\(format.codec.rawValue)", "rate": "\(format.sampleRate)"])
            for continuation in waiting { continuation.resume(returning: .success(())) }
        case .failure(let error):
            state.withLock { $0.number == number ? $0.session : nil }?.stop()
            failed(error, number)
        }
    }

    private func failed(_ error: IoTError, _ number: Int) {
        guard state.withLock({ $0.number == number }) else { return }
        logger.warning(
            "the camera's back channel has failed",
            metadata: [
                "error.code": "\(error.code.rawValue)", "error.name": "\(error.code.name)",
                "error.reason": "\(error.reasonForLog)",
            ])
        // Debug level only: the message contains the camera's address.
        logger.debug("why the camera's back channel failed", metadata: ["error.message": "\(error.message)"])
        _ = end(failure: error)
    }

    /// Forgets the session, and returns it.
    ///
    /// - Parameter failure: Why the session has failed; `nil` if it is closed here.
    private func end(failure: IoTError? = nil) -> RTSPClientSession? {
        let (session, timer, waiting) = state.withLock { state in
            if let failure { state.gate.failed(failure, at: .now()) } else { state.gate.close() }
            let parts = (state.session, state.timer, state.waiting)
            state.number += 1
            (state.session, state.timer, state.voice, state.early, state.waiting) = (nil, nil, nil, [], [])
            return parts
        }
        timer?.cancel()
        let error = failure ?? IoTError(.stopping, "the camera's back channel was closed")
        for continuation in waiting { continuation.resume(returning: .failure(error)) }
        return session
    }

    // MARK: Sound

    private static func play(_ samples: [Int16], _ state: inout State, at now: NIODeadline) {
        guard let converted = try? state.voice?.encoder.resample(samples) else { return }
        state.voice?.feed.push(converted, at: now)
        send(&state, at: now)
    }

    private static func send(_ state: inout State, at now: NIODeadline) {
        guard let voice = state.voice else { return }
        while let samples = state.voice?.feed.next(at: now) {
            // Encoding fails only when memory runs out.
            for packet in (try? voice.encoder.encode(samples)) ?? [] {
                state.session?.send(sound: packet, sampleCount: voice.packetSize)
            }
        }
    }

    private func tick() {
        let now = NIODeadline.now()
        let closes = state.withLock { state in
            if state.gate.closes(at: now) { return true }
            Self.send(&state, at: now)
            return false
        }
        guard closes else { return }
        logger.info("the camera's back channel is closed")
        end()?.stop()
    }
}
