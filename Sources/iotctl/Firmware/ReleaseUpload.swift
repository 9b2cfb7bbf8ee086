import Firmware
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

/// Sends the file of a release in parts, from where the hub's copy ends.
struct ReleaseUpload {
    /// As much as the daemon reads of a body.
    private static let partSize = 256 << 10

    private let client: GatewayClient
    private let files: ReleaseFiles

    init(_ client: GatewayClient, _ files: ReleaseFiles) {
        self.client = client
        self.files = files
    }

    /// Adds the release if the hub does not have it, and sends what is missing of the file.
    ///
    /// - Throws: `.releaseFileDiffers` before anything is sent if the file is not the manifest's.
    func run() async throws -> ReleaseDescription {
        let signed = try files.read()
        let manifest = try signed.unverified()
        var check = ReleaseFileCheck(manifest)
        try files.forEachChunk { try check.update($0) }
        try check.finish()
        var release: ReleaseDescription = try await client.call(
            .POST, APIPath("v1", "firmware", "releases"),
            ReleaseRequest(
                manifest: String(decoding: signed.bytes, as: UTF8.self),
                signature: Base64.encode(signed.signature)))
        let file = try FileHandle(forReadingAtPath: files.file).unwrapped(files.file)
        defer { try? file.close() }
        while !release.complete {
            let place = release.received ?? 0
            progress(release)
            let part = try Self.part(of: file, at: place, files.file)
            release = try await client.put(
                ReleaseDescription.self, APIPath("v1", "firmware", "releases", release.id, "file"), part,
                range: "bytes \(place)-\(place + Int64(part.count) - 1)/\(manifest.size)")
        }
        if Console.isTerminal { Console.redraw("") }
        return release
    }

    private static func part(of file: FileHandle, at place: Int64, _ name: String) throws -> [UInt8] {
        do {
            try file.seek(toOffset: UInt64(place))
            if let bytes = try file.read(upToCount: partSize), !bytes.isEmpty { return Array(bytes) }
        } catch {
            throw IoTError(.fileFailed, "\(name) cannot be read: \(FailureReason.of(error))", underlying: error)
        }
        throw IoTError(.fileFailed, "\(name) became shorter while it was sent")
    }

    private func progress(_ release: ReleaseDescription) {
        guard Console.isTerminal else { return }
        Console.redraw(
            "\(files.file): \(Format.size(Int(release.received ?? 0))) of \(Format.size(Int(release.size)))")
    }
}

extension Optional where Wrapped == FileHandle {
    fileprivate func unwrapped(_ name: String) throws -> FileHandle {
        guard let self else { throw DescriptorWriting.failure("\(name) cannot be read") }
        return self
    }
}
