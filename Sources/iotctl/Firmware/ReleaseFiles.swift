import Firmware
import Foundation
import IoTCore

/// A release's file, with its manifest and its signature beside it.
struct ReleaseFiles {
    private static let chunkSize = 1 << 20
    private static let maximumKeySize = 4096

    let file: String

    var manifest: String { file + ".manifest" }
    var signature: String { manifest + ".sig" }

    /// - Throws: `.fileFailed`.
    func read() throws -> SignedManifest {
        SignedManifest(
            bytes: try FileInput.read(manifest, atMost: ReleaseManifest.maximumBytes),
            signature: try FileInput.read(signature, atMost: 64))
    }

    /// - Throws: `.fileFailed`.
    func write(_ signed: SignedManifest) throws {
        for (path, bytes) in [(manifest, signed.bytes), (signature, signed.signature)] {
            do {
                try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
            } catch {
                throw IoTError(.fileFailed, "\(path) cannot be written: \(FailureReason.of(error))", underlying: error)
            }
        }
    }

    /// Calls `receive` for each part of the file.
    ///
    /// - Throws: `.fileFailed`.
    func forEachChunk(_ receive: ([UInt8]) throws -> Void) throws {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DescriptorWriting.failure("\(file) cannot be read") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        while true {
            let chunk: Data?
            do {
                chunk = try handle.read(upToCount: Self.chunkSize)
            } catch {
                throw IoTError(.fileFailed, "\(file) cannot be read: \(FailureReason.of(error))", underlying: error)
            }
            guard let chunk, !chunk.isEmpty else { return }
            try receive(Array(chunk))
        }
    }

    /// - Throws: `.fileFailed`, also if others can read the file.
    static func privateKey(_ path: String) throws -> ReleaseKey {
        guard let text = try PrivateFile.text(of: path) else { throw PrivateFile.missing(path) }
        guard let key = ReleaseKey(pem: text) else {
            throw IoTError(
                .fileFailed, "\(path) does not contain an Ed25519 private key",
                remedy: "create one with `iotctl firmware key create`")
        }
        return key
    }

    /// - Throws: `.fileFailed`.
    static func publicKey(_ path: String) throws -> ReleasePublicKey {
        let text = String(decoding: try FileInput.read(path, atMost: maximumKeySize), as: UTF8.self)
        guard let key = ReleasePublicKey(pem: text) else {
            throw IoTError(
                .fileFailed, "\(path) does not contain an Ed25519 public key",
                remedy: "name the file FILE.pub, which `iotctl firmware key create FILE` wrote")
        }
        return key
    }
}
