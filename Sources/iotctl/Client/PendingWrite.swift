import GatewayAPI
import IoTCore

/// A property write that the device has not applied yet.
struct PendingWrite: Sendable {
    /// The hub does not report when a device has applied a value, so it is polled.
    private static let interval = Duration.milliseconds(200)

    let device: String
    /// The path that was written. The hub lists pending properties as a whole, as `CLASS.NAME`.
    let path: String
    let version: Int64

    /// - Throws: `.messageTimeout` if the device has not applied the value in time.
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
            remedy: "the hub keeps the value and delivers it later; `iotctl device show \(device)` lists what is "
                + "pending")
    }
}
