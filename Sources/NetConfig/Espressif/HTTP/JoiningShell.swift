import IoTCore
import Logging
import NIOCore

/// Does the work that the core of a device in provisioning mode requests, and logs it without secrets.
struct JoiningShell: Sendable {
    let applier: any WiFiApplier
    let binder: ProvisioningServer.Binder?
    let logger: Logger

    func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome {
        let outcome = await applier.apply(credentials)
        switch outcome {
        case .connected: logger.notice("the network was joined")
        case .wrongPassword: logger.warning("the network refused the password")
        case .networkNotFound: logger.warning("the network was not found")
        case .failed(let reason): logger.warning("the network could not be joined", metadata: ["reason": "\(reason)"])
        }
        return outcome
    }

    func bind(_ order: BindOrder) async -> Result<String?, IoTError> {
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
    static func wait(until due: NIODeadline) async -> Bool {
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
