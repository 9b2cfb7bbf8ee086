package import GatewayAPI
package import IoTCore

/// The devices of the caller's account.
package protocol GatewayDevices: Sendable {
    /// Of the caller's account, or of another for an administrator.
    func list(of user: AccessID?, _ page: PageRequest) async throws -> Page<DeviceSummary>
    func show(_ device: String) async throws -> DeviceDetail
    func export(_ device: String) async throws -> DeviceExport
    func create(_ request: DeviceRequest, requestID: String?) async throws -> DeviceResponse
    func rename(_ device: String, to name: String, requestID: String?) async throws
    func remove(_ device: String, requestID: String?) async throws
    /// The newest picture of a device as a JPEG, without a channel of the caller's.
    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Picture
}
