import Foundation
import IoTCore
import IoTLink
import Testing

@testable import iotvideod

@Suite struct CameraFilesTests {
    @Test("Each camera has its own persistent key, in a directory that only its owner can enter")
    func keys() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let front = try CameraFiles(dataDirectory: folder, camera: "front").key().publicKey
        let yard = try CameraFiles(dataDirectory: folder, camera: "yard").key().publicKey
        #expect(front != yard)
        #expect(try CameraFiles(dataDirectory: folder, camera: "front").key().publicKey == front)
        for (path, mode) in [("cameras", 0o700), ("cameras/front", 0o700), ("cameras/front/key.pem", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
    }

    @Test("A new key is signed by the old one; if the power failed in between, the old one stays")
    func replacement() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let files = try CameraFiles(dataDirectory: folder, camera: "front")
        let directory = folder + "/cameras/front"
        let first = try files.key()
        #expect(first.succession.isEmpty)
        let second = try files.replaceKey()
        let third = try files.replaceKey()
        let read = try files.key()
        #expect(read.publicKey == third.publicKey)
        for old in [first, second] {
            #expect(read.succession.leads(from: old.publicKey.fingerprint, to: third.publicKey))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/key-succession")
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        // Only the succession was written.
        let pem = try String(contentsOfFile: directory + "/key.pem", encoding: .utf8)
        _ = try files.replaceKey()
        try pem.write(toFile: directory + "/key.pem", atomically: false, encoding: .utf8)
        let old = try files.key()
        #expect(old.publicKey == third.publicKey && old.succession == third.succession)
        let fifth = try files.replaceKey()
        #expect(try files.key().succession.leads(from: first.publicKey.fingerprint, to: fifth.publicKey))

        try "damaged\n".write(toFile: directory + "/key-succession", atomically: false, encoding: .utf8)
        let error = #expect(throws: IoTError.self) { try files.key() }
        #expect(error?.code == .fileFailed && error?.message.contains("key-succession") == true)
    }

    @Test("A removed camera leaves neither its key nor what was downloaded for it; the others keep theirs")
    func removal() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = try Configuration.parse(
            "", file: "/c.yaml", defaults: DefaultPaths(environment: [:], isRoot: true))
        configuration.dataDirectory = folder
        configuration.firmware.directory = folder + "/firmware"
        for camera in ["front", "yard"] {
            _ = try CameraFiles(dataDirectory: folder, camera: camera).key()
            let release = FirmwareSupply.directory(of: camera, in: folder + "/firmware")
            try FileManager.default.createDirectory(atPath: release, withIntermediateDirectories: true)
            try "part".write(toFile: release + "/.download", atomically: false, encoding: .utf8)
        }
        try CameraFiles.remove("front", configuration)
        try CameraFiles.remove("front", configuration)
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() == [
                "cameras", "cameras/yard", "cameras/yard/key.pem", "firmware", "firmware/camera-yard",
                "firmware/camera-yard/.download",
            ])
    }
}
