import GatewayAPI
import IoTCore
import NIOCore

@testable import Gateway

/// One release, `1`, whose file is `text`.
struct ScriptedFirmware: GatewayFirmware {
    static let text = Array("0123456789".utf8)

    let session: ScriptedSession

    private static let release = ReleaseDescription(
        id: "1", model: "box", version: "0.2.0", size: 10, sha256: "00", added: 1, complete: true)

    func list(_ page: PageRequest) async throws -> Page<ReleaseDescription> {
        try session.note()
        return Page([Self.release])
    }

    func add(_ request: ReleaseRequest, requestID: String?) async throws -> ReleaseDescription {
        try session.note()
        return Self.release
    }

    func show(_ id: String) async throws -> ReleaseDescription {
        try session.note()
        return Self.release
    }

    func receive(_ part: ReleasePart, of id: String) async throws -> ReleaseDescription {
        try session.note("\(part.offset)+\(part.bytes.count)/\(part.total.map { String($0) } ?? "*")")
        return Self.release
    }

    func open(_ id: String) async throws -> RangedFile {
        try session.note()
        return RangedFile(
            name: "box-0.2.0", contentType: "application/octet-stream", size: 10, tag: "00"
        ) { offset, count in
            // As a disk may, it gives fewer bytes than wanted.
            ByteBuffer(bytes: Self.text.dropFirst(Int(offset)).prefix(min(count, 3)))
        }
    }

    func remove(_ id: String, requestID: String?) async throws { try session.note() }

    func newest(for device: String, currentVersion: String?, language: String?) async throws -> FirmwareOffer {
        try session.note()
        return FirmwareOffer(model: "box", currentVersion: currentVersion)
    }
}
