import IoTCore
import NIOCore

/// The core of a device in provisioning mode, shared by its connections: each request waits here for its answer.
actor ProvisioningMode: JoiningMode {
    private var core: ProvisioningDevice
    private var waiters: [ProvisioningDevice.Caller: CheckedContinuation<ProvisioningReply, Never>] = [:]
    private let effects: AsyncStream<ProvisioningDevice.Output>.Continuation

    init(_ core: ProvisioningDevice, effects: AsyncStream<ProvisioningDevice.Output>.Continuation) {
        self.core = core
        self.effects = effects
    }

    /// Forwards the core's outputs from before the first request.
    func start() {
        pump()
    }

    func exchange(_ request: ProvisioningRequest, from caller: ProvisioningDevice.Caller) async -> ProvisioningReply {
        await withCheckedContinuation { waiter in
            waiters[caller] = waiter
            core.handle(request, from: caller, at: .now())
            pump()
        }
    }

    func scanned(_ networks: [WiFiNetwork]) {
        core.scanned(networks, at: .now())
        pump()
    }

    func applied(_ outcome: WiFiOutcome) {
        core.joining.applied(outcome, at: .now())
        pump()
    }

    func bound(_ result: Result<String?, IoTError>) {
        core.bound(result, at: .now())
        pump()
    }

    func timeout() {
        core.timeout(at: .now())
        pump()
    }

    /// Ends the waits of all requests.
    func stop() {
        for waiter in waiters.values { waiter.resume(returning: ProvisioningReply(status: 410)) }
        waiters = [:]
    }

    /// The core's events since the last call.
    func takeEvents() -> [ProvisioningDevice.Event] {
        core.takeEvents()
    }

    private func pump() {
        while let output = core.poll() {
            if case .reply(let reply, let caller) = output {
                waiters.removeValue(forKey: caller)?.resume(returning: reply)
            } else {
                effects.yield(output)
            }
        }
    }
}
