import GatewayAPI
import IoTCore
import NIOHTTP1

/// Waits until the device of a provisioning token is bound and online.
struct ProvisioningWait {
    /// The token's id.
    let id: String
    let timeout: Duration
    let isQuiet: Bool

    private static let pause = Duration.milliseconds(300)

    /// - Throws: The reason why the device could not be bound; 21101 if the token has expired; 21002 after the time-out.
    func run(_ client: GatewayClient) async throws -> ProvisioningStatus {
        let end = ContinuousClock.now + timeout
        var phase: ProvisioningStatus.Phase?
        while true {
            let status = try await client.get(ProvisioningStatus.self, APIPath("v1", "net", "tokens", id))
            if status.phase != phase, !isQuiet { Self.report(status) }
            phase = status.phase
            if status.phase == .online { return status }
            if let failure = status.failure {
                throw IoTError(ErrorCode(rawValue: failure.code), failure.message, remedy: failure.remedy)
            }
            guard ContinuousClock.now < end else {
                throw IoTError(
                    .messageTimeout,
                    status.phase == .bound
                        ? "the device is bound, and has not come online" : "no device has used the token",
                    remedy: "check the device, and wait again")
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Stores the fingerprint that the device itself sent, so that the hub cannot substitute another key.
    static func keep(
        _ fingerprint: KeyFingerprint?, of status: ProvisioningStatus, _ client: GatewayClient
    ) async throws {
        guard let fingerprint, let device = status.binding?.device else { return }
        let _: DeviceKeyDescription = try await client.call(
            .PUT, APIPath("v1", "devices", device, "key"), DeviceKeyRequest(fingerprint: fingerprint, source: .ap))
    }

    private static func report(_ status: ProvisioningStatus) {
        switch status.phase {
        case .waiting: Console.note("waiting for a device, until \(Format.time(seconds: status.expires))")
        case .bound: Console.note("\(status.name ?? "the device") is bound and comes online")
        case .online: Console.note("\(status.name ?? "the device") is online")
        case .failed: break
        }
    }
}
