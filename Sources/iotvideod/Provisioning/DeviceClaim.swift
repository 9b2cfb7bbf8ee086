import IoTCore
import IoTLink
import Logging

/// Presents a provisioning token to the hub with which the device has already enrolled (`net.claim`).
struct DeviceClaim: Sendable {
    let device: JoinedBox.Device
    let endpoint: LinkEndpoint
    let logger: Logger

    /// - Throws: the hub's error; 21025 if the hub cannot be reached in time.
    func run(token: String, timeout: Duration) async throws(IoTError) {
        let session = LinkSession(
            configuration: LinkConfiguration(
                principal: .device(device.id), token: .file(path: device.tokenFile), endpoint: endpoint),
            logger: logger)
        let outcome = await withTaskGroup(of: Result<Void, IoTError>?.self) { group in
            group.addTask {
                // Ends when the group is cancelled.
                try? await session.run()
                return nil
            }
            group.addTask {
                do throws(IoTError) {
                    try await Self.untilOnline(session)
                    _ = try await session.request(ProvisioningMethod.claim, TokenText(token: token))
                    return .success(())
                } catch {
                    return .failure(error.duringProvisioning)
                }
            }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return .failure(IoTError(.linkUnavailable, "the hub cannot be reached"))
            }
            var outcome: Result<Void, IoTError>?
            while outcome == nil, let next = await group.next() { outcome = next }
            group.cancelAll()
            return outcome ?? .failure(IoTError(.stopping))
        }
        try outcome.get()
    }

    private static func untilOnline(_ session: LinkSession) async throws(IoTError) {
        for await change in session.statusChanges() {
            switch change.status {
            case .online: return
            case .tokenFailed, .kickOff:
                throw change.reason ?? IoTError(.linkUnavailable, "the hub refused the device's own token")
            case .unregistering, .registering, .offline: continue
            }
        }
        throw IoTError(.stopping)
    }
}
