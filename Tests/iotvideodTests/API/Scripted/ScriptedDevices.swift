import GatewayAPI
import IoTCore
import NIOCore

@testable import Gateway

struct ScriptedDevices: GatewayDevices {
    let session: ScriptedSession

    func list(of user: AccessID?, _ page: PageRequest) async throws -> Page<DeviceSummary> {
        try session.note()
        return Page([])
    }

    func show(_ device: String) async throws -> DeviceDetail {
        try session.note()
        throw IoTError(.notFound)
    }

    func export(_ device: String) async throws -> DeviceExport {
        try session.note()
        return DeviceExport(id: device, name: device, schema: .null, model: [:], versions: [:])
    }

    func create(_ request: DeviceRequest, requestID: String?) async throws -> DeviceResponse {
        try session.note()
        return DeviceResponse(device: "d", name: request.name)
    }

    func rename(_ device: String, to name: String, requestID: String?) async throws { try session.note() }

    func remove(_ device: String, requestID: String?) async throws { try session.note() }

    func learnKey(of device: String, _ request: DeviceKeyRequest) async throws -> DeviceKeyDescription {
        try session.note()
        return DeviceKeyDescription(fingerprint: request.fingerprint, source: request.source, since: 1)
    }

    func forgetKey(of device: String) async throws { try session.note() }

    func lanPassword(
        of device: String, _ request: LANPasswordRequest, requestID: String?
    ) async throws -> LANPasswordResponse {
        try session.note()
        return LANPasswordResponse(outcome: .ok)
    }

    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Picture {
        try session.note()
        return Picture(format: .jpeg, pts: 0, bytes: ByteBuffer(string: "picture"))
    }
}

struct ScriptedProperties: GatewayProperties {
    let session: ScriptedSession

    func read(_ device: String, path: String) async throws -> PropertyResponse {
        try session.note()
        return PropertyResponse(value: .null, version: 1)
    }

    func read(of devices: [String], path: String) async throws -> [DeviceReading] {
        try session.note()
        return devices.map { DeviceReading(device: $0, name: $0, value: .null, version: 1) }
    }

    func readAll(_ page: PageRequest, path: String) async throws -> Page<DeviceReading> {
        try session.note()
        return Page([])
    }

    func write(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse {
        try session.note()
        return PropertyWriteResponse(version: 1, value: value, pending: false)
    }

    func watch(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent> {
        try session.note()
        return AsyncStream { $0.finish() }
    }

    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse {
        try session.note()
        // Like a device that returns the given value.
        return ActionResponse(value: value)
    }

    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse {
        try session.note()
        return VersionResponse(version: 1)
    }

    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse {
        try session.note()
        return VersionResponse(version: 1)
    }
}
