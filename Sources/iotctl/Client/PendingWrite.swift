import GatewayAPI
import IoTCore

/// A written property that its device has not applied yet.
struct PendingWrite: Sendable {
    /// The hub does not report when a device has applied a value, so it is asked.
    private static let interval = Duration.milliseconds(200)

    let device: String
    /// As it was written; what is pending are whole properties, `CLASS.NAME`.
    let path: String
    let version: Int64

    /// - Throws: `.messageTimeout` when the device has not applied it in time.
    func wait(atMost limit: Duration, _ client: GatewayClient) async throws {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while true {
            let detail = try await client.get(DeviceDetail.self, APIPath("v1", "devices", device))
            if !isPending(detail.pending) { return }
            guard clock.now + Self.interval < end else { throw timedOut(limit, isOnline: detail.state != .offline) }
            try await clock.sleep(for: Self.interval)
        }
    }

    func isPending(_ paths: [String]) -> Bool {
        paths.contains { path == $0 || path.hasPrefix($0 + ".") || path.hasPrefix($0 + "[") }
    }

    private func timedOut(_ limit: Duration, isOnline: Bool) -> IoTError {
        IoTError(
            .messageTimeout,
            "\(device) \(isOnline ? "is online, but" : "is offline:") it has not applied version \(version) within "
                + Format.duration(limit),
            remedy: "the value stays written, and the hub delivers it; `iotctl device show \(device)` lists what is "
                + "pending")
    }
}
