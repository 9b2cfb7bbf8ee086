public import IoTCore
import IoTLink
public import Logging
import Synchronization

/// The device side of a thing model: it reports values, executes actions and applies settings.
///
/// The device keeps its own document; the hub stores another one. Each time the link comes online the device logs in:
/// it sends its schema, constants and state, and applies the settings that it does not have yet. `report` may be called
/// from any thread and never blocks.
public final class DeviceModel: Sendable {
    /// Executes an action with its validated value, and returns the answer for the caller. The handler reports the new
    /// state as the `ProReadonly` twin. The caller gets an `IoTError` with its code, any other error as `actionFailed`
    /// (20103).
    public typealias ActionHandler = @Sendable (JSONValue) async throws -> JSONValue

    /// Applies a setting's whole new value. It is called for one write of a property at a time.
    public typealias WriteHandler = @Sendable (JSONValue) async throws -> Void

    let link: any ModelLink
    let logger: Logger
    let now: @Sendable () -> Int64
    let state: Mutex<DeviceModelState>
    private let wake: AsyncStream<Void>
    let waker: AsyncStream<Void>.Continuation

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

    /// The device's own document.
    public var document: ThingDocument { state.withLock { $0.document } }

    /// Registers the handler of `Action.{name}`. An action without a handler is refused with `actionNotSupported`
    /// (20104).
    public func onAction(_ name: String, _ handler: @escaping ActionHandler) {
        state.withLock { $0.actionHandlers[name] = handler }
    }

    /// Registers the handler of `ProWritable.{name}`. Without a handler a setting is only stored in the document.
    public func onWrite(_ name: String, _ handler: @escaping WriteHandler) {
        state.withLock { $0.writeHandlers[name] = handler }
    }

    /// Calls `handler` with the present `ProReadonly` values, and then with each change of the document and each action that
    /// was carried out, in their order. Settings follow when the hub has delivered them. The handler must not wait, and must
    /// not call the model.
    public func onChange(_ handler: @escaping @Sendable (DeviceChange) -> Void) {
        state.withLock { $0.tellChanges(to: handler) }
    }

    /// Stores a value (`ProReadonly.x.stVal`, `ProConst.x`, `Event.x.stVal`, at any depth), and sends it when the link
    /// is online. A newer value replaces one that is not sent yet. An unchanged value is not sent. Throws `pathInvalid`
    /// and `valueInvalid` as the hub would.
    public func report(_ path: String, _ value: JSONValue) throws(IoTError) {
        let isNew = try state.withLock { state throws(IoTError) in try state.report(path, value, at: now()) }
        if isNew { waker.yield() }
    }

    /// Logs in, reports and handles requests until the link session ends or the task is cancelled. Call it once.
    public func run() async {
        link.handle(ModelMethod.carryOut) { [weak self] order, request throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            var order = order
            if let caller = request.grant?.from { order.origin = caller.description }
            return try await self.takeAction(order)
        }
        link.handle(ModelMethod.deliver) { [weak self] delivery, _ throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            return try await self.carryOut(delivery)
        }
        handleCallersOnTheNetwork()
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

    // MARK: To the hub

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
                        "sending the model to the hub failed",
                        metadata: ["link.code": "\(error.code.rawValue)", "link.reason": "\(error.message)"])
                    state.withLock { $0.startOver() }
                    try? await Task.sleep(for: pause)
                    pause = min(pause * 2, .seconds(15))
                }
            }
        }
    }

    /// Returns `false` when there was nothing to do.
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
        case .tellWrite(let name, let write): try await tellHub(name, write)
        }
        return true
    }

    private func carryOutAtLogin(_ name: String, _ delivery: Delivery) async {
        do throws(IoTError) {
            try await apply(name, delivery, evenOlder: true)
        } catch {
            // It stays pending on the hub, which delivers it again at the next login.
            logger.info(
                "a setting could not be applied",
                metadata: ["model.property": "\(name)", "link.reason": "\(error.message)"])
        }
    }

    // MARK: From the hub

    private func takeAction(_ order: ActionOrder) async throws(IoTError) -> ActionAnswer {
        let (command, handler) = try state.withLock { state throws(IoTError) in
            let command = try Self.command(order.path, order.value, in: state.document)
            guard let handler = state.actionHandlers[command.name] else {
                throw IoTError(.actionNotSupported, "this device does not support \(command.path)")
            }
            guard state.runningActions.insert(command.name).inserted else {
                throw IoTError(.deviceBusy, "\(command.path) is still running")
            }
            return (command, handler)
        }
        defer { state.withLock { _ = $0.runningActions.remove(command.name) } }
        let answer = try await Self.rethrowing(command.path) { try await handler(command.value) }
        logger.debug("action executed", metadata: ["model.property": "\(command.name)"])
        state.withLock { state in
            _ = try? state.document.takeAction(
                command.path + ".ctlVal", command.value, origin: order.origin, at: order.t ?? now())
            state.changed?(DeviceChange(path: command.path, value: command.value))
        }
        return ActionAnswer(value: answer)
    }

    /// Reads the bare value that the hub sends at the action's path, and also the forms that users write.
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

    /// Applies a setting, unless it is applied already.
    ///
    /// Versions only increase, so that an older delivery came late and is skipped. At a login an older version is
    /// applied too (`evenOlder`), because the hub's document decides.
    private func apply(_ name: String, _ delivery: Delivery, evenOlder: Bool) async throws(IoTError) {
        guard await enterWrite(name) else {
            throw IoTError(.deviceBusy, "too many writes to ProWritable.\(name) are waiting")
        }
        defer { state.withLock { $0.leaveWrite(name) } }
        let (value, handler) = try state.withLock {
            state throws(IoTError) -> (JSONValue?, WriteHandler?) in
            let applied = state.document.appliedVersions["ProWritable.\(name)"] ?? 0
            if evenOlder ? delivery.version == applied : delivery.version <= applied { return (nil, nil) }
            try state.yieldWrite(of: name, to: delivery)
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
            "setting applied", metadata: ["model.property": "\(name)", "model.version": "\(delivery.version)"])
        waker.yield()
    }

    func enterWrite(_ name: String) async -> Bool {
        var isAdmitted = false
        await withCheckedContinuation { continuation in
            isAdmitted = state.withLock { $0.enterWrite(name, continuation) }
        }
        return isAdmitted
    }

    /// Rethrows an `IoTError` unchanged, and any other error as `actionFailed`.
    static func rethrowing<Value>(
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
