public import IoTCore
import NIOCore

/// Brings one device into a network over its access point: drives a `ProvisioningClient` over HTTP.
public struct DeviceProvisioner: Sendable {
    private let host: String
    private let port: Int
    private let plan: ProvisioningPlan

    /// - Parameter host: The device's address in its own network; Espressif's devices have 192.168.4.1.
    public init(host: String, port: Int = 80, plan: ProvisioningPlan) {
        self.host = host
        self.port = port
        self.plan = plan
    }

    /// - Throws: An error of `ErrorCatalogue.provisioning`, or the hub's error that the device reports.
    public func run(
        _ report: @Sendable (ProvisioningProgress) -> Void = { _ in }
    ) async throws(IoTError) -> ProvisioningOutcome {
        var client = ProvisioningClient(plan, random: SystemRandom.bytes)
        client.start(at: .now())
        while true {
            var request: ProvisioningRequest?
            var due = NIODeadline.distantFuture
            while let output = client.poll() {
                switch output {
                case .send(let next): request = next
                case .timeout(let time): due = time
                case .progress(let progress): report(progress)
                case .finished(let result): return try result.get()
                }
            }
            client.handle(await input(request, until: due), at: .now())
            guard !Task.isCancelled else { throw IoTError(.operationTimeout, "it was interrupted") }
        }
    }

    private func input(_ request: ProvisioningRequest?, until due: NIODeadline) async -> ProvisioningClient.Input {
        guard let request else {
            try? await Task.sleep(for: .nanoseconds(max(0, (due - .now()).nanoseconds)))
            return .timeout
        }
        do throws(ProvisioningHTTPConnection.Lost) {
            return .reply(
                try await ProvisioningHTTPConnection.exchange(request, host: host, port: port, until: due))
        } catch {
            // After the deadline the answer is late; before it, the connection was lost.
            return .now() >= due ? .timeout : .lost(error.reason)
        }
    }
}

enum SystemRandom {
    @Sendable static func bytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
    }
}
