import IoTCore
import MediaChannel
import NetConfig
import RTSP

extension ONVIFService {
    /// - Returns: `nil` if the camera's settings name none.
    init?(_ settings: CameraSettings) {
        guard let port = settings.onvifPort, let source = settings.rtspConfiguration else { return nil }
        // The camera's password is sent to no other host.
        var device = source.url
        device.scheme = device.scheme == "rtsps" ? "https" : "http"
        device.port = port
        device.path = "/onvif/device_service"
        let login = source.credentials.map { ONVIFLogin(username: $0.username, password: $0.password) }
        self.init(device, login: login, trust: settings.trust)
    }
}
