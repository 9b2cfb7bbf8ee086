import Gateway
import GatewayAPI
import IoTCore
import MediaChannel

extension CameraSupervisor: CameraFleet where Product == RunningCamera {
    func cameras() -> [Camera] {
        products.map(\.camera)
    }

    func reloadConfiguration() async throws(IoTError) -> ReloadResponse {
        let change = try await reload()
        return ReloadResponse(
            added: change.added, changed: change.changed, removed: change.removed, restartNeeded: change.restartNeeded)
    }
}
