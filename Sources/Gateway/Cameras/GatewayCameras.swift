package import GatewayAPI

/// The cameras of this daemon.
package protocol GatewayCameras: Sendable {
    func list() async throws -> [CameraDescription]
    func show(_ name: String) async throws -> CameraDescription
    func add(_ request: CameraRequest) async throws -> CameraDescription
    func change(_ name: String, _ change: CameraChange) async throws -> CameraDescription
    func remove(_ name: String) async throws
    /// Tests a source without adding it.
    ///
    /// - Throws: why it does not work.
    func test(_ request: CameraTestRequest) async throws -> CameraTestReport
}
