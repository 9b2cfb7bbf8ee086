import AsyncHTTPClient
import Firmware
import IoTCore
import IoTLink
import Logging
import MediaChannel
import NIOCore
import NIOHTTP1

/// One upgrade: asks the hub for the newest release, checks it, downloads it, and has it installed.
struct FirmwareUpgrade: Sendable {
    let link: any LinkRequester
    let supply: FirmwareSupply
    let installer: any ReleaseInstaller
    /// Gets the progress, from 1 on.
    let report: @Sendable (Int32) -> Void
    /// Called before the version is installed. False if the upgrade was cancelled.
    let mayInstall: @Sendable (FirmwareVersion) -> Bool
    let logger: Logger

    /// - Throws: the errors of the checks; `releaseUnreachable`, `boxSpaceUsed`, `fileFailed`; `CancellationError`.
    func run() async throws {
        let offer = try await link.request(FirmwareMethod.query, FirmwareQuery())
        guard offer.available, let id = offer.id else {
            throw IoTError(
                .releaseVersionRefused, "the hub has no newer release for this device", remedy: "nothing to do")
        }
        let release = try await link.request(FirmwareMethod.show, ReleaseReference(id: id))
        let signed = SignedManifest(
            bytes: Array((release.manifest ?? "").utf8), signature: Base64.decode(release.signature ?? "") ?? [])
        // Nothing is written before these checks.
        let manifest = try signed.verify(supply.keys)
        try manifest.check(for: try await installer.target())
        report(1)
        let file = BundleFile(directory: supply.directory, in: supply.parent, signed, manifest)
        var download = FirmwareDownload(size: manifest.size, have: try await file.begin())
        try await fetch(release.id, manifest, into: file, &download)
        try await file.verify()
        guard mayInstall(manifest.version) else { throw CancellationError() }
        try await installer.install(file, manifest, report)
    }

    private func fetch(
        _ id: String, _ manifest: ReleaseManifest, into file: BundleFile, _ download: inout FirmwareDownload
    ) async throws {
        guard Hex.decode(id) != nil else { throw IoTError(.modelReceiveFailed, "the hub's release has no id") }
        let client = supply.source.client()
        let tag = Hex.encode(manifest.hash)
        do {
            while !download.isComplete {
                do {
                    try await receive(
                        supply.source.request(for: id, from: download.have, tag: tag), client, file, &download)
                    guard download.isComplete else { throw IoTError(.releaseUnreachable, "the connection ended early") }
                } catch let error where !(error is CancellationError) && !Self.isFinal(error) {
                    try Task.checkCancellation()
                    guard let pause = download.broke() else {
                        throw IoTError(.releaseUnreachable, underlying: error)
                    }
                    logger.info(
                        "the download of a release broke and continues",
                        metadata: ["firmware.received": "\(download.have)", "firmware.reason": "\(error)"])
                    try await Task.sleep(for: pause)
                }
            }
        } catch {
            try? await client.shutdown()
            throw error
        }
        try? await client.shutdown()
    }

    /// Whether another attempt would fail, too.
    private static func isFinal(_ error: any Error) -> Bool {
        guard let error = error as? IoTError else { return false }
        return error.code != .releaseUnreachable
    }

    private func receive(
        _ request: HTTPClientRequest, _ client: HTTPClient, _ file: BundleFile, _ download: inout FirmwareDownload
    ) async throws {
        let response = try await client.execute(request, timeout: .seconds(30))
        switch response.status {
        case .partialContent: break
        case .ok: download.startOver()
        case .unauthorized, .forbidden, .notFound, .conflict, .rangeNotSatisfiable:
            throw IoTError(.releaseRefused, "the hub refuses the release's file: HTTP \(response.status.code)")
        default: throw IoTError(.releaseUnreachable, "the hub answers HTTP \(response.status.code)")
        }
        var percent = download.percent
        for try await buffer in response.body {
            try Task.checkCancellation()
            let offset = download.have
            guard download.received(buffer.readableBytes) else {
                throw IoTError(.releaseFileDiffers, "the hub sends more bytes than the release's manifest says")
            }
            try await file.append(Array(buffer.readableBytesView), at: offset)
            if download.percent != percent {
                percent = download.percent
                report(percent)
            }
        }
    }
}
