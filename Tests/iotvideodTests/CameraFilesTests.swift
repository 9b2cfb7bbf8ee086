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
}
