public import IoTCore
import IoTLink
public import Logging
import Synchronization

/// A device's side of its thing model: what it reports, and what it does when it is told to.
///
/// Values live in a document of its own; the hub has the stored one. Each time the link comes online the device logs
/// in: it says its schema, constants and state, and carries out the settings that it does not have yet. `report` may
/// be called from anywhere and never waits.
public final class DeviceModel: Sendable {
    /// Carries out an action with its checked value, and gives the answer for the caller. What the action changed, the
    /// handler reports as the `ProReadonly` twin. An `IoTError` keeps its code; any other becomes `actionFailed`
    /// (20103).
    public typealias ActionHandler = @Sendable (JSONValue) async throws -> JSONValue

    /// Carries out a setting's whole new value. One property's writes come one after the other.
    public typealias WriteHandler = @Sendable (JSONValue) async throws -> Void

    private let link: any ModelLink
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let state: Mutex<DeviceModelState>
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    /// - Parameter now: the time for `t`, in UTC seconds.
    public init(
        schema: ThingSchema, link: any ModelLink, logger: Logger,
        now: @escaping @Sendable () -> Int64 = { WallClock.seconds() }
    ) {
        self.link = link
        self.logger = logger
        self.now = now
        state = Mutex(DeviceModelState(schema: schema))
        (wake, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The values as the device knows them.
    public var document: ThingDocument { state.withLock { $0.document } }

    /// Registers what carries out `Action.{name}`; an action without one is refused with `actionNotSupported` (20104).
    public func onAction(_ name: String, _ handler: @escaping ActionHandler) {
        state.withLock { $0.actionHandlers[name] = handler }
    }

    /// Registers what carries out `ProWritable.{name}`; without one a setting is only noted.
    public func onWrite(_ name: String, _ handler: @escaping WriteHandler) {
        state.withLock { $0.writeHandlers[name] = handler }
    }

    /// Takes note of a measured value (`ProReadonly.x.stVal`, `ProConst.x`, `Event.x.stVal`, at any depth), and sends
    /// it when the link allows. Values that follow faster than they can be sent replace each other; an unchanged one is
    /// not sent. Throws `pathInvalid` and `valueInvalid` as the hub would.
    public func report(_ path: String, _ value: JSONValue) throws(IoTError) {
        let isNew = try state.withLock { state throws(IoTError) in try state.report(path, value, at: now()) }
        if isNew { waker.yield() }
    }

    /// Keeps the hub informed until the link session ends or the task is cancelled. Call it once.
    public func run() async {
        link.handle(ModelMethod.carryOut) { [weak self] order, _ throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            return try await self.takeAction(order)
        }
        link.handle(ModelMethod.deliver) { [weak self] delivery, _ throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            return try await self.carryOut(delivery)
        }
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await change in self.link.statusChanges() {
                    self.state.withLock { $0.setOnline(change.status == .online) }
                    self.waker.yield()
                }
                self.waker.finish()
            }
            await work()
            group.cancelAll()
        }
    }

    // MARK: Towards the hub

    private func work() async {
        let shortest = Duration.milliseconds(500)
        var pause = shortest
        for await _ in wake {
            while !Task.isCancelled {
                let step = state.withLock { $0.nextStep() }
                do throws(IoTError) {
                    guard try await perform(step) else { break }
                    pause = shortest
                } catch {
                    logger.info(
                        "the hub did not take the model",
                        metadata: ["link.code": "\(error.code.rawValue)", "link.reason": "\(error.message)"])
                    state.withLock { $0.startOver() }
                    try? await Task.sleep(for: pause)
                    pause = min(pause * 2, .seconds(15))
                }
            }
        }
    }

    /// False when there was nothing to do.
    private func perform(_ step: DeviceModelState.Step) async throws(IoTError) -> Bool {
        switch step {
        case .nothing:
            return false
        case .login(let login):
            let result = try await link.request(ModelMethod.login, login)
            for (name, delivery) in result.writable.sorted(by: { $0.key < $1.key }) {
                await carryOutAtLogin(name, delivery)
            }
        case .report(let changes):
            let report = ModelReport(changes: changes.map { ModelReport.Change(path: $0.path, value: $0.value) })
            _ = try await link.request(ModelMethod.report, report)
        case .acknowledge(let versions):
            for (path, version) in versions.sorted(by: { $0.key < $1.key }) {
                _ = try await link.request(ModelMethod.applied, AppliedProperty(path: path, version: version))
            }
        }
        return true
    }

    private func carryOutAtLogin(_ name: String, _ delivery: Delivery) async {
        do throws(IoTError) {
            try await apply(name, delivery, evenOlder: true)
        } catch {
            // It stays pending at the hub, which delivers it again at the next login.
            logger.info(
                "a setting could not be carried out",
                metadata: ["model.property": "\(name)", "link.reason": "\(error.message)"])
        }
    }

    // MARK: From the hub

    private func takeAction(_ order: ActionOrder) async throws(IoTError) -> ActionAnswer {
        let (command, handler) = try state.withLock { state throws(IoTError) in
            let command = try Self.command(order.path, order.value, in: state.document)
            guard let handler = state.actionHandlers[command.name] else {
                throw IoTError(.actionNotSupported, "this device does not carry out \(command.path)")
            }
            guard state.runningActions.insert(command.name).inserted else {
                throw IoTError(.deviceBusy, "\(command.path) is still being carried out")
            }
            return (command, handler)
        }
        defer { state.withLock { _ = $0.runningActions.remove(command.name) } }
        let answer = try await Self.rethrowing(command.path) { try await handler(command.value) }
        logger.debug("action carried out", metadata: ["model.property": "\(command.name)"])
        state.withLock { state in
            _ = try? state.document.takeAction(
                command.path + ".ctlVal", command.value, origin: order.origin, at: order.t ?? now())
        }
        return ActionAnswer(value: answer)
    }

    /// The hub sends the checked value bare, at the action's own path; the forms that users write are read too.
    private static func command(
        _ path: String, _ value: JSONValue, in document: ThingDocument
    ) throws(IoTError) -> ActionCommand {
        if try PropertyPath(parsing: path).members.isEmpty, value != .null,
            let bare = try? document.actionCommand(path + ".ctlVal", value)
        {
            return bare
        }
        return try document.actionCommand(path, value)
    }

    private func carryOut(_ order: PropertyDelivery) async throws(IoTError) -> LinkNothing {
        let name = try state.withLock { state throws(IoTError) in try state.document.writableName(order.path) }
        try await apply(name, order.delivery, evenOlder: false)
        return LinkNothing()
    }

    /// Carries out a setting unless it is in force already.
    ///
    /// Versions grow, so a delivery older than what is in force came late and is skipped; at a login the hub's word
    /// counts even so.
    private func apply(_ name: String, _ delivery: Delivery, evenOlder: Bool) async throws(IoTError) {
        guard await enterWrite(name) else {
            throw IoTError(.deviceBusy, "too many writes to ProWritable.\(name) wait")
        }
        defer { state.withLock { $0.leaveWrite(name) } }
        let (value, handler) = try state.withLock {
            state throws(IoTError) -> (JSONValue?, WriteHandler?) in
            let applied = state.document.appliedVersions["ProWritable.\(name)"] ?? 0
            if evenOlder ? delivery.version == applied : delivery.version <= applied { return (nil, nil) }
            var trial = state.document
            _ = try trial.applyDelivery(name, delivery)
            return (try trial.read("ProWritable.\(name).setVal").value, state.writeHandlers[name])
        }
        guard let value else { return }
        if let handler {
            try await Self.rethrowing("ProWritable.\(name)") { try await handler(value) }
        }
        try state.withLock { state throws(IoTError) in try state.carriedOut(name, delivery) }
        logger.debug(
            "setting carried out", metadata: ["model.property": "\(name)", "model.version": "\(delivery.version)"])
        waker.yield()
    }

    private func enterWrite(_ name: String) async -> Bool {
        var isLetIn = false
        await withCheckedContinuation { continuation in
            isLetIn = state.withLock { $0.enterWrite(name, continuation) }
        }
        return isLetIn
    }

    /// A handler's `IoTError` as it is, any other failure as `actionFailed`.
    private static func rethrowing<Value>(
        _ path: String, _ body: () async throws -> Value
    ) async throws(IoTError) -> Value {
        do {
            return try await body()
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.actionFailed, "\(path): \(error)", underlying: error)
        }
    }
}
