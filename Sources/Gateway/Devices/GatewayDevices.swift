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
    /// Compares a fingerprint that the caller learned without the hub with the stored one and with the one that the hub
    /// reports, and stores it.
    ///
    /// - Throws: `deviceKeyChanged` if they differ; then nothing has changed.
    func learnKey(of device: String, _ request: DeviceKeyRequest) async throws -> DeviceKeyDescription
    /// Removes the stored fingerprint of the device, so that another one can be stored.
    func forgetKey(of device: String) async throws
    /// Checks or changes the camera's LAN access password. Failures are thrown; `LANPasswordOutcome.init` maps them.
    func lanPassword(
        of device: String, _ request: LANPasswordRequest, requestID: String?
    ) async throws -> LANPasswordResponse
    /// The newest picture of a device as JPEG. The caller needs no channel.
    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Picture
}
