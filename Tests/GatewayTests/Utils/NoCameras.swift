import GatewayAPI
import IoTCore
import MediaChannel

@testable import Gateway

struct NoCameras: CameraFleet {
    func cameras() async -> [Camera] { [] }
    func add(_ camera: CameraRequest) async throws(IoTError) { throw IoTError(.notImplemented) }
    func source(of camera: CameraRequest) async throws(IoTError) -> CameraSettings {
        throw IoTError(.notImplemented)
    }
    func source(of name: String, after change: CameraChange) async throws(IoTError) -> CameraSettings {
        throw IoTError(.notFound)
    }
    func change(_ name: String, _ change: CameraChange) async throws(IoTError) { throw IoTError(.notFound) }
    func remove(_ name: String) async throws(IoTError) { throw IoTError(.notFound) }
    func replaceKey(of name: String) async throws(IoTError) -> CameraKeyDescription { throw IoTError(.notFound) }
    func reloadConfiguration() async throws(IoTError) -> ReloadResponse { throw IoTError(.notImplemented) }
}
