import GatewayAPI
import IoTCore
import NIOHTTP1

/// Waits until the device of a provisioning token is bound and online.
struct ProvisioningWait {
    /// The token's id.
    let id: String
    let end: ContinuousClock.Instant
    let isQuiet: Bool

    private static let pause = Duration.milliseconds(300)
    /// How long to wait for the hub to report the key. A device publishes its model, and with it its key, soon after it
    /// has come online.
    private static let keyTime = Duration.seconds(5)
    /// The same if a person asked for the comparison.
    private static let longKeyTime = Duration.seconds(30)
    /// Failures that can pass: the daemon restarts, or is busy, or the hub does not answer.
    private static let transient: Set<ErrorCode> = [
        .daemonUnreachable, .linkUnavailable, .tooManyRequests, .messageTimeout,
    ]

    /// - Throws: The reason why the device could not be bound; 21101 if the token has expired; after the time-out 21002, or
    ///   why the state could not be requested.
    func run(_ client: GatewayClient) async throws -> ProvisioningStatus {
        var phase: ProvisioningStatus.Phase?
        while true {
            let status: ProvisioningStatus? = try await attempt {
                try await client.get(ProvisioningStatus.self, APIPath("v1", "net", "tokens", id))
            }
            if let status {
                if status.phase != phase, !isQuiet { Self.report(status) }
                phase = status.phase
                if status.phase == .online { return status }
                if let failure = status.failure {
                    throw IoTError(ErrorCode(rawValue: failure.code), failure.message, remedy: failure.remedy)
                }
            }
            guard ContinuousClock.now < end else {
                throw IoTError(
                    .messageTimeout,
                    phase == .bound ? "the device is bound, and has not come online" : "no device has used the token",
                    remedy: "check the device, and wait again")
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Stores the fingerprint that the device itself sent, so that the hub cannot substitute another key, and compares it
    /// with the key that the hub reports.
    ///
    /// - Throws: 25080 if the keys differ; 21002 if `mustCompare` and the hub does not report a key in time.
    func keep(
        _ fingerprint: KeyFingerprint?, of status: ProvisioningStatus, _ client: GatewayClient,
        mustCompare: Bool = false
    ) async throws {
        guard let fingerprint, let device = status.binding?.device else { return }
        let _: DeviceKeyDescription = try await client.call(
            .PUT, APIPath("v1", "devices", device, "key"), DeviceKeyRequest(fingerprint: fingerprint, source: .ap))
        let end = min(end, .now + (mustCompare ? Self.longKeyTime : Self.keyTime))
        while true {
            let detail: DeviceDetail? = try await attempt {
                try await client.get(DeviceDetail.self, APIPath("v1", "devices", device))
            }
            if let failure = detail?.key?.failure { throw failure.error }
            if detail?.hasReportedKey == true { return }
            guard ContinuousClock.now < end else { break }
            try await Task.sleep(for: Self.pause)
        }
        guard !mustCompare else {
            throw IoTError(
                .messageTimeout,
                "the device is online, but the hub has not reported its signing key: the fingerprint is stored, and has "
                    + "not been compared",
                remedy: "compare it later: `iotctl device key \(device)`")
        }
        Console.note(
            "the hub has not reported the device's key yet; `iotctl device key \(device)` compares it later")
    }

    /// - Returns: `nil` after a failure that can pass, before the end.
    private func attempt<Value: Sendable>(_ request: () async throws -> Value) async throws -> Value? {
        do {
            return try await request()
        } catch let error as IoTError where Self.transient.contains(error.code) && ContinuousClock.now < end {
            return nil
        }
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
