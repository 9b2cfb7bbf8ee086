import IoTCore
import Logging
import NIOCore

/// Owns a core with a `DeviceJoining`, and passes results on to it.
protocol JoiningMode: Actor {
    func applied(_ outcome: WiFiOutcome)
    func bound(_ result: Result<String?, IoTError>)
    func timeout()
}

/// Does the work that the core of a device in provisioning mode requests, and logs it without secrets.
struct JoiningShell: Sendable {
    let applier: any WiFiApplier
    let binder: ProvisioningServer.Binder?
    let logger: Logger

    /// Begins the work of a step; the mode gets its result.
    ///
    /// - Returns: the end of the mode, if the step is its end.
    func begin(
        _ step: DeviceJoining.Step, of mode: some JoiningMode, in group: inout DiscardingTaskGroup
    ) -> ProvisioningServer.End? {
        switch step {
        case .apply(let credentials): group.addTask { await mode.applied(await apply(credentials)) }
        case .bind(let order): group.addTask { await mode.bound(await bind(order)) }
        case .timeout(let due): group.addTask { if await Self.wait(until: due) { await mode.timeout() } }
        case .end(let end): return ProvisioningServer.End(end)
        }
        return nil
    }

    private func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome {
        let outcome = await applier.apply(credentials)
        switch outcome {
        case .connected: logger.notice("the network was joined")
        case .wrongPassword: logger.warning("the network refused the password")
        case .networkNotFound: logger.warning("the network was not found")
        case .failed(let reason): logger.warning("the network could not be joined", metadata: ["reason": "\(reason)"])
        }
        return outcome
    }

    private func bind(_ order: BindOrder) async -> Result<String?, IoTError> {
        guard let binder else { return .failure(IoTError(.notBindable)) }
        do throws(IoTError) {
            let id = try await binder(order)
            logger.notice("the device is bound")
            return .success(id)
        } catch {
            logger.warning("the device could not be bound", metadata: ["error.code": "\(error.code.rawValue)"])
            return .failure(error)
        }
    }

    /// Waits until the deadline.
    ///
    /// - Returns: `false` if the task was cancelled.
    private static func wait(until due: NIODeadline) async -> Bool {
        try? await Task.sleep(for: .nanoseconds(max(0, (due - .now()).nanoseconds)))
        return !Task.isCancelled
    }
}

extension ProvisioningServer.End {
    init(_ end: DeviceJoining.End) {
        switch end {
        case .bound: self = .bound
        case .connected: self = .connected
        case .timedOut: self = .timedOut
        }
    }
}
