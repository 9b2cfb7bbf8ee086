package import GatewayAPI
package import IoTCore

/// The properties and actions of devices.
package protocol GatewayProperties: Sendable {
    /// The path `""` is the whole model.
    func read(_ device: String, path: String) async throws -> PropertyResponse
    func read(of devices: [String], path: String) async throws -> [DeviceReading]
    /// Reads from all devices that the caller may view.
    func readAll(_ page: PageRequest, path: String) async throws -> Page<DeviceReading>
    /// - Throws: `.versionConflict` if `version` is set and is not the current version.
    func write(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse
    /// Yields the current value, then every change below `path`. Cancelling the iteration ends the watch.
    func watch(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent>
    /// A `resource` in the result without a `/` is the name of a picture in this gateway: see
    /// `GatewayChannels.resource`.
    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse
    /// Adds a user property, or replaces the one of the same name.
    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse
    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse
}
