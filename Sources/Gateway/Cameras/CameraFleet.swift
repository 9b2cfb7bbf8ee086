package import GatewayAPI
package import IoTCore
package import MediaChannel

/// The cameras of this daemon, as the API sees them.
package protocol CameraFleet: Sendable {
    /// Those that run, in order of their names.
    func cameras() async -> [Camera]

    /// Adds a camera, which is kept over a restart when this returns.
    ///
    /// - Throws: `.invalidRequest`, `.nameTaken`, `.fileFailed`, or why the hub made no device of it.
    func add(_ camera: CameraRequest) async throws(IoTError)

    /// What `add` would open, with its secret.
    ///
    /// - Throws: `.invalidRequest`, `.fileFailed`.
    func source(of camera: CameraRequest) async throws(IoTError) -> CameraSettings

    /// What `change` would open, with its secret.
    ///
    /// - Throws: as `change`.
    func source(of name: String, after change: CameraChange) async throws(IoTError) -> CameraSettings

    /// Changes a camera that `add` made as a whole, and keeps it as it was on a failure. Its device stays the same.
    ///
    /// - Throws: `.notFound`, `.operationNotAllowed` for a camera of the configuration file or the command line,
    ///   `.invalidRequest`, `.fileFailed`, or why it did not start.
    func change(_ name: String, _ change: CameraChange) async throws(IoTError)

    /// Stops and forgets a camera that `add` made. Its device stays at the hub, offline.
    ///
    /// - Throws: `.notFound`, `.operationNotAllowed` for a camera of the configuration file or the command line.
    func remove(_ name: String) async throws(IoTError)

    /// Takes the configuration file over as it is now.
    ///
    /// - Throws: `.invalidConfiguration` or `.fileFailed` with what is wrong with it; nothing has changed then.
    func reloadConfiguration() async throws(IoTError) -> ReloadResponse
}
