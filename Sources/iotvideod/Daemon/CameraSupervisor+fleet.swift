import Gateway
import GatewayAPI
import IoTCore
import MediaChannel

extension CameraSupervisor: CameraFleet where Product == RunningCamera {
    func cameras() -> [Camera] {
        products.map(\.camera)
    }

    func source(of camera: CameraRequest) throws(IoTError) -> MediaChannel.CameraConfiguration {
        let camera = try CameraConfiguration(camera)
        return camera.source(url: try camera.openableURL())
    }

    func source(
        of name: String, after change: CameraChange
    ) throws(IoTError) -> MediaChannel.CameraConfiguration {
        let (camera, url) = try preview(name, change)
        return camera.source(url: url)
    }

    func reloadConfiguration() async throws(IoTError) -> ReloadResponse {
        let change = try await reload()
        return ReloadResponse(
            added: change.added, changed: change.changed, removed: change.removed, restartNeeded: change.restartNeeded)
    }
}

extension CameraConfiguration {
    /// What is opened to try it.
    fileprivate func source(url: String) -> MediaChannel.CameraConfiguration {
        MediaChannel.CameraConfiguration(name: name, url: url, rtspTransport: rtspTransport == .udp ? .udp : .tcp)
    }
}
