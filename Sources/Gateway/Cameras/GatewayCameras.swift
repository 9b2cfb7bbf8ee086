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
    /// Answers the live call that rings.
    ///
    /// - Throws: `.callTargetNotFound` if it does not ring.
    func answer(_ name: String, _ answer: CallAnswer) async throws -> CameraDescription
    /// Something was noticed at the camera.
    func detect(_ name: String, _ request: DetectionRequest) async throws -> DetectionReport
    /// Replaces the camera's signing key by a new one, which the old one signs.
    func replaceKey(of name: String) async throws -> CameraKeyDescription
    /// What the camera's users send to it, as server-sent events (`CameraDataNotice`). One reader at a time.
    func data(_ name: String) async throws -> MediaBody
    /// Answers a request of the camera's users, or sends them a message.
    func send(_ name: String, _ message: CameraMessage) async throws -> CameraDataReport
}
