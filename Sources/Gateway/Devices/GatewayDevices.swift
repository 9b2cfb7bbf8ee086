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
    /// Compares a fingerprint that the caller learned elsewhere with what is kept for the device and what the hub says,
    /// and keeps it.
    ///
    /// - Throws: `deviceKeyChanged` when they differ; nothing has changed then.
    func learnKey(of device: String, _ request: DeviceKeyRequest) async throws -> DeviceKeyDescription
    /// Forgets the fingerprint that is kept for the device, so that another one can be learned.
    func forgetKey(of device: String) async throws
    /// Checks the camera's LAN access password, or changes it. The failures are errors (`LANPasswordOutcome.init`).
    func lanPassword(
        of device: String, _ request: LANPasswordRequest, requestID: String?
    ) async throws -> LANPasswordResponse
    /// The newest picture of a device as JPEG. The caller needs no channel.
    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Picture
}
