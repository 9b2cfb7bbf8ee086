import GatewayAPI
import IoTCore

/// Waits until the device of a provisioning token is bound and online.
struct ProvisioningWait {
    /// The token's id.
    let id: String
    let timeout: Duration
    let isQuiet: Bool

    private static let pause = Duration.milliseconds(300)

    /// - Throws: why the device could not be bound; 21101 when the token is over; 21002 after the time-out.
    func run(_ client: GatewayClient) async throws -> ProvisioningStatus {
        let end = ContinuousClock.now + timeout
        var phase: ProvisioningStatus.Phase?
        while true {
            let status = try await client.get(ProvisioningStatus.self, APIPath("v1", "net", "tokens", id))
            if status.phase != phase, !isQuiet { Self.tell(status) }
            phase = status.phase
            if status.phase == .online { return status }
            if let failure = status.failure {
                throw IoTError(ErrorCode(rawValue: failure.code), failure.message, remedy: failure.remedy)
            }
            guard ContinuousClock.now < end else {
                throw IoTError(
                    .messageTimeout,
                    status.phase == .bound
                        ? "the device is bound, and has not come online" : "no device has come with the token",
                    remedy: "look at the device, and wait again")
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    private static func tell(_ status: ProvisioningStatus) {
        switch status.phase {
        case .waiting: Console.note("waiting for a device, until \(Format.time(seconds: status.expires))")
        case .bound: Console.note("\(status.name ?? "the device") is bound and comes online")
        case .online: Console.note("\(status.name ?? "the device") is online")
        case .failed: break
        }
    }
}
