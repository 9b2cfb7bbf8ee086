package import GatewayAPI
package import IoTCore

/// The devices of the caller's account.
package protocol GatewayDevices: Sendable {
    /// The devices of the caller's account; administrators may list those of another account.
    func list(of user: AccessID?, _ page: PageRequest) async throws -> Page<DeviceSummary>
    func show(_ device: String) async throws -> DeviceDetail
    func export(_ device: String) async throws -> DeviceExport
    func create(_ request: DeviceRequest, requestID: String?) async throws -> DeviceResponse
    func rename(_ device: String, to name: String, requestID: String?) async throws
    func remove(_ device: String, requestID: String?) async throws
    /// The newest picture of a device as JPEG. The caller needs no channel.
    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Picture
}
