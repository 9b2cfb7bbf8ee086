import Firmware
import GatewayAPI
import IoTCore
import IoTLink
import LinkHub

struct CallerFirmware: GatewayFirmware {
    let session: CallerSession

    func list(_ page: PageRequest) async throws -> Page<ReleaseDescription> {
        var page = try await session.hub.page(FirmwareMethod.list, page)
        for index in page.elements.indices { await count(&page.elements[index]) }
        return page
    }

    func add(_ request: ReleaseRequest, requestID: String?) async throws -> ReleaseDescription {
        guard let signature = Base64.decode(request.signature), signature.count == 64 else {
            throw IoTError(.releaseSignatureInvalid, "the signature is not 64 bytes in base64")
        }
        let hub = try self.hub
        var release = try await session.hub.ask(
            FirmwareMethod.add, ReleaseCreation(manifest: request.manifest, signature: signature), id: requestID)
        try await hub.removeUnknownReleaseFiles()
        await count(&release)
        return release
    }

    func show(_ id: String) async throws -> ReleaseDescription {
        var release = try await session.hub.ask(FirmwareMethod.show, ReleaseReference(id: id))
        await count(&release)
        return release
    }

    func receive(_ part: ReleasePart, of id: String) async throws -> ReleaseDescription {
        let hub = try self.hub
        var release = try await session.hub.ask(FirmwareMethod.show, ReleaseReference(id: id))
        guard let text = release.manifest else { throw IoTError(.internalFailure, "the hub sent no manifest") }
        let manifest = try ReleaseManifest(text: Array(text.utf8))
        guard part.total == nil || part.total == manifest.size else {
            throw IoTError(
                .releaseFileDiffers,
                "the file has \(part.total ?? 0) bytes, the release's manifest says \(manifest.size)")
        }
        let received = try await hub.releases.write(part.bytes, at: part.offset, of: release.id, manifest)
        if received == manifest.size {
            try await hub.releases.verify(release.id, manifest)
            try await hub.completeRelease(release.id)
            release.complete = true
        }
        release.received = received
        return release
    }

    func open(_ id: String) async throws -> RangedFile {
        let hub = try self.hub
        let part = try session.take(.releaseReaders)
        let release = try await session.hub.ask(FirmwareMethod.show, ReleaseReference(id: id))
        guard release.complete, await hub.releases.size(of: release.id) == release.size else {
            throw IoTError(.releaseIncomplete)
        }
        return RangedFile(release, in: hub.releases, part)
    }

    func remove(_ id: String, requestID: String?) async throws {
        _ = try await session.hub.ask(FirmwareMethod.remove, ReleaseReference(id: id), id: requestID)
        try await session.gateway.hub?.removeUnknownReleaseFiles()
    }

    func newest(for device: String, currentVersion: String?, language: String?) async throws -> FirmwareOffer {
        let target = try await session.target(device)
        return try await session.hub.ask(
            FirmwareMethod.query, FirmwareQuery(device: target, currentVersion: currentVersion, language: language))
    }

    /// The files are on the hub's box.
    private var hub: LinkHub {
        get throws {
            guard let hub = session.gateway.hub else {
                throw IoTError(
                    .notImplemented, "the files of releases are at the hub, which runs on another box",
                    remedy: "use the API of the hub's box (--url)")
            }
            return hub
        }
    }

    private func count(_ release: inout ReleaseDescription) async {
        guard let hub = session.gateway.hub else { return }
        release.received = await hub.releases.size(of: release.id)
    }
}
