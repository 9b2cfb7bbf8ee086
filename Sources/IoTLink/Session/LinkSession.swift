import Dispatch
public import IoTCore
public import Logging
import NIOCore
public import ServiceLifecycle
import Synchronization

/// A principal's session with its hub. It runs a `LinkSessionMachine` over `MQTTConnection`.
///
/// `run()` registers, owns every task, and ends the session at a graceful shutdown. Nothing connects before it runs.
public final class LinkSession: Service, LinkRequester, Sendable {
    public typealias Handler = @Sendable (LinkRequest) async throws(IoTError) -> JSONValue

    enum Work {
        case connect(attempt: Int, LinkAddress, clientID: String, isNext: Bool)
        /// A renewed token, and the token that it replaces.
        case keep(String, LinkToken)
        case execute(RememberedAnswers.Key, LinkRequest, deadline: NIODeadline)
    }

    public let principal: Principal
    public let endpoint: LinkEndpoint
    let limits: LinkLimits
    let onTokenRenewed: (@Sendable (String) -> Void)?
    let onOwnership: (@Sendable (Int64) -> Void)?
    let onGrantTrust: (@Sendable (GrantTrust) -> Void)?
    let onRightsWithdrawn: (@Sendable (RightsWithdrawn) -> Void)?
    let logger: Logger
    let state: Mutex<LinkSessionState>
    let timer = WakeSignal()
    private let work: AsyncStream<Work>

    public convenience init(configuration: LinkConfiguration, logger: Logger) {
        self.init(configuration: configuration, logger: logger, generator: SystemRandomNumberGenerator())
    }

    init(
        configuration: LinkConfiguration, logger: Logger, generator: any RandomNumberGenerator & Sendable
    ) {
        principal = configuration.principal
        endpoint = configuration.endpoint
        limits = configuration.limits
        onTokenRenewed = configuration.onTokenRenewed
        onOwnership = configuration.onOwnership
        onGrantTrust = configuration.onGrantTrust
        onRightsWithdrawn = configuration.onRightsWithdrawn
        self.logger = logger
        // At most `runningRequests` handlers and a few connections are queued, so that nothing is dropped.
        let (stream, continuation) = AsyncStream.makeStream(
            of: Work.self, bufferingPolicy: .bufferingOldest(configuration.limits.runningRequests + 64))
        work = stream
        state = Mutex(
            LinkSessionState(
                machine: LinkSessionMachine(
                    principal: configuration.principal, limits: configuration.limits,
                    renewsToken: configuration.renewsToken, generator: generator, wall: WallClock.milliseconds()),
                token: configuration.token, work: continuation))
    }

    // MARK: Registering

    /// Connects and stays connected. Call it again after a kick. While offline it reconnects at once.
    public func register() { feed(.register) }

    /// Ends the session. Waiting requests fail with 21025.
    public func unregister() { feed(.unregister) }

    /// Replaces the token. An online session stays online: it makes a connection with the new token before the old one
    /// ends, so that no request or push is lost. After a refused token it registers again.
    public func updateToken(_ token: LinkToken) {
        state.withLock { $0.token = token }
        feed(.tokenUpdated)
    }

    public func updateToken(_ token: String) { updateToken(.value(token)) }

    // MARK: Status

    public var current: LinkStatusChange { state.withLock { $0.machine.status } }

    public var counters: LinkCounters {
        state.withLock { state in
            var counters = state.machine.counters
            counters.droppedPushes = state.droppedPushes
            return counters
        }
    }

    /// Yields the current status, then each change. While 16 changes wait for a slow reader, each new one drops the
    /// oldest.
    public func statusChanges() -> AsyncStream<LinkStatusChange> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LinkStatusChange.self, bufferingPolicy: .bufferingNewest(16))
        let key = state.withLock { state in state.addStatusReader(continuation) }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            Self.outsideCancellation { [weak self] in self?.state.withLock { $0.statusReaders[key] = nil } }
        }
        return stream
    }

    /// The time on the hub's clock, ms since 1970, to compare with times from the hub (a token's expiry, `t`). Before
    /// the hub's first answer it is our own clock. After it, setting our own clock has no effect.
    public var hubTime: Int64 {
        state.withLock { $0.machine.hubTime(at: .now(), wall: WallClock.milliseconds()) }
    }

    /// The keys that verify the hub's tokens, from the answer to the newest `session.begin`; `nil` if it contains none.
    /// A device handles requests only after that answer, so that the keys are those of the requesting hub.
    public var tokenKeys: TokenKeys? { state.withLock { $0.machine.tokenKeys } }

    // MARK: Requests and pushes from the hub

    /// Registers the handler of one method, in place of an earlier handler.
    ///
    /// It runs on a task of `run()` and is cancelled at the request's deadline. It is called once for each request id.
    public func handle(_ method: String, _ handler: @escaping Handler) {
        state.withLock { $0.handlers[method] = handler }
    }

    /// Yields the hub's pushes from now on, except `session.kick`. A slow reader loses the oldest, which are counted.
    public func pushes() -> AsyncStream<LinkPush> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LinkPush.self, bufferingPolicy: .bufferingNewest(limits.waitingPushes))
        let key = state.withLock { state in state.addPushReader(continuation) }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            Self.outsideCancellation { [weak self] in self?.state.withLock { $0.pushReaders[key] = nil } }
        }
        return stream
    }

    // MARK: Cancellation

    private static let cancellations = DispatchQueue(label: "iotlink.cancellations")

    /// Runs the body of a cancellation handler, or of a stream's `onTermination`, that takes our lock.
    ///
    /// These handlers run under a lock of the cancelled task. Resuming the task takes that lock too, and we resume
    /// tasks under our lock. So a handler that took our lock directly could deadlock.
    static func outsideCancellation(_ body: @escaping @Sendable () -> Void) {
        cancellations.async(execute: body)
    }

    // MARK: Running

    /// Throws 25001 at the second call.
    public func run() async throws {
        guard state.withLock({ $0.startRunning() }) else {
            throw IoTError(.invalidRequest, "a link session runs once: create a new one")
        }
        feed(.register)
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.runTimers() }
                for await item in work {
                    switch item {
                    case .connect(let attempt, let address, let clientID, let isNext):
                        connect(attempt, address, clientID: clientID, isNext: isNext)
                    case .keep(let token, let place): keep(token, in: place)
                    case .execute(let key, let request, let deadline):
                        group.addTask { await self.execute(key, request, deadline: deadline) }
                    }
                }
                if Task.isCancelled { feed(.stop) }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.feed(.stop)
        }
        finish()
    }

    /// Feeds `.timeout` at each deadline, until the session ends.
    private func runTimers() async {
        while !Task.isCancelled {
            let deadline = state.withLock { $0.armTimer() }
            await withTaskGroup(of: Void.self) { group in
                if let deadline {
                    let pause = max(deadline - NIODeadline.now(), .zero)
                    // Like `NIODeadline`, this clock stops while the machine sleeps.
                    group.addTask { try? await Task.sleep(for: Duration(pause), clock: .suspending) }
                }
                group.addTask { await self.timer.wait() }
                await group.next()
                group.cancelAll()
            }
            guard !Task.isCancelled else { return }
            feed(.timeout)
        }
    }

    private func execute(_ key: RememberedAnswers.Key, _ request: LinkRequest, deadline: NIODeadline) async {
        guard let handler = state.withLock({ $0.handlers[request.method] }) else {
            let error = IoTError(.invalidRequest, "\(principal) does not know the method \(request.method)")
            return feed(.handled(key, .failure(error)))
        }
        let pause = Duration(max(deadline - NIODeadline.now(), .zero))
        let finished = Readiness<Void>()
        state.withLock { $0.running[key] = finished }
        defer { state.withLock { $0.running[key] = nil } }
        let outcome = await withTaskGroup(of: Result<JSONValue, IoTError>.self) { group in
            group.addTask {
                do throws(IoTError) {
                    return .success(try await handler(request))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: pause, clock: .suspending)
                return .failure(IoTError(.operationTimeout))
            }
            group.addTask {
                try? await finished.wait()
                return .failure(IoTError(.callerHungUp, "who asked wants no more answers"))
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? .failure(IoTError(.internalFailure))
        }
        feed(.handled(key, outcome))
    }
}
