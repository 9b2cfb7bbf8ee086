import GatewayAPI
import IoTCore

@testable import Gateway

struct ScriptedCameras: GatewayCameras {
    let session: ScriptedSession

    private static func camera(_ name: String) -> CameraDescription {
        CameraDescription(
            name: name, device: nil, url: "", state: .connecting, since: 0, viewers: 0, viewerLimit: 8)
    }

    func list() async throws -> [CameraDescription] {
        try session.note()
        return []
    }

    func show(_ name: String) async throws -> CameraDescription {
        try session.note()
        return Self.camera(name)
    }

    func add(_ request: CameraRequest) async throws -> CameraDescription {
        try session.note()
        return Self.camera(request.name)
    }

    func change(_ name: String, _ change: CameraChange) async throws -> CameraDescription {
        try session.note()
        return Self.camera(name)
    }

    func remove(_ name: String) async throws { try session.note() }

    func answer(_ name: String, _ answer: CallAnswer) async throws -> CameraDescription {
        try session.note()
        return Self.camera(name)
    }

    func detect(_ name: String, _ request: DetectionRequest) async throws -> DetectionReport {
        try session.note()
        return DetectionReport(type: request.type, mask: 1, start: 0, end: 0, recorded: false)
    }

    func replaceKey(of name: String) async throws -> CameraKeyDescription {
        try session.note()
        let key = KeyFingerprint(bytes: [UInt8](repeating: 1, count: 32))!
        return CameraKeyDescription(fingerprint: key, previous: key)
    }

    func test(_ request: CameraTestRequest) async throws -> CameraTestReport {
        try session.note()
        return CameraTestReport(url: "", tracks: [], unsupportedTracks: [], measuredSeconds: 0)
    }

    func data(_ name: String) async throws -> MediaBody {
        try session.note()
        throw IoTError(.notFound)
    }

    func send(_ name: String, _ message: CameraMessage) async throws -> CameraDataReport {
        try session.note()
        return CameraDataReport(calls: 1)
    }
}
