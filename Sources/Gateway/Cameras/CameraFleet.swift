package import GatewayAPI
package import IoTCore
package import MediaChannel

/// The cameras of this daemon as seen by the API.
package protocol CameraFleet: Sendable {
    /// The running cameras, sorted by name.
    func cameras() async -> [Camera]

    /// Adds a camera. When this returns, the camera survives a restart.
    ///
    /// - Throws: `.invalidRequest`, `.nameTaken`, `.fileFailed`, or why the hub could not create the device.
    func add(_ camera: CameraRequest) async throws(IoTError)

    /// The source that `add` would open, with its secret.
    ///
    /// - Throws: `.invalidRequest`, `.fileFailed`.
    func source(of camera: CameraRequest) async throws(IoTError) -> CameraSettings

    /// The source that `change` would open, with its secret.
    ///
    /// - Throws: the same errors as `change`.
    func source(of name: String, after change: CameraChange) async throws(IoTError) -> CameraSettings

    /// Changes a camera that `add` created. If this fails, the camera stays as it was. Its device stays the same.
    ///
    /// - Throws: `.notFound`, `.operationNotAllowed` for a camera of the configuration file or the command line,
    ///   `.invalidRequest`, `.fileFailed`, or why the camera did not start.
    func change(_ name: String, _ change: CameraChange) async throws(IoTError)

    /// Stops and removes a camera that `add` created. Its device stays at the hub, offline.
    ///
    /// - Throws: `.notFound`, `.operationNotAllowed` for a camera of the configuration file or the command line.
    func remove(_ name: String) async throws(IoTError)

    /// Replaces the camera's signing key by a new one, which the old one signs, and starts the camera again with it.
    ///
    /// - Throws: `.notFound`, `.fileFailed`, or why the camera did not start.
    func replaceKey(of name: String) async throws(IoTError) -> CameraKeyDescription

    /// Reloads the configuration file.
    ///
    /// - Throws: `.invalidConfiguration` or `.fileFailed` with the reason. Nothing has changed in this case.
    func reloadConfiguration() async throws(IoTError) -> ReloadResponse
}
