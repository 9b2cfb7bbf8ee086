import Foundation
import GatewayAPI
import IoTCore
import IoTLink
import TestSupport
import Testing

@testable import iotvideod

@Suite struct AddedCamerasTests {
    @Test(
        "A camera with any accepted URL is restored after a restart",
        arguments: [
            "/with'quotes\" and \\", "/emoji 🎥", "/line\u{2028}separator", "/nothing \u{FFFE}\u{FFFF}\u{10FFFF}",
            "/byte order \u{FEFF}mark", "rtsp://h/private \u{E000}",
        ])
    func everyText(url: String) async throws {
        try await withTemporaryDirectory { directory in
            let cameras = AddedCameras(dataDirectory: directory)
            var camera = try CameraSettings(name: "a", url: url, viewers: 3).checked()
            if camera.source.kind == .rtsp { camera.rtspTransport = .udp }
            try cameras.save([camera])
            #expect(try cameras.load() == [camera])
            #expect(try cameras.load().first.map { Array($0.source.url.unicodeScalars) } == Array(url.unicodeScalars))
            #expect(FileSecrecy.owner.allows(path: cameras.path))
        }
    }

    @Test("The file of release 0.1 is read, and the first change replaces it")
    func oldFile() async throws {
        try await withTemporaryDirectory { directory in
            let old = directory + "/cameras.yaml"
            let text = """
                # Cameras that were added with iotctl or the API; iotvideod writes this file.
                cameras:
                  - name: 'b'
                    url: 'rtsp://u:p%3A%27%40@h/x''y'
                    viewers: 3
                    rtspTransport: udp

                """
            try PrivateFile.write(text, to: old)
            let cameras = AddedCameras(dataDirectory: directory)
            let loaded = try cameras.load()
            #expect(loaded.map(\.name) == ["b"] && loaded[0].viewers == 3 && loaded[0].rtspTransport == .udp)
            #expect(try loaded[0].openable().url == "rtsp://u:p%3A%27%40@h/x'y")
            try cameras.save(loaded)
            #expect(!FileManager.default.fileExists(atPath: old))
            #expect(try cameras.load() == loaded)
            // After a power failure between writing the new file and removing the old one, the new one is used.
            try PrivateFile.write("cameras: []\n", to: old)
            #expect(try cameras.load() == loaded)
        }
    }

    @Test("A file with foreign contents is refused by name")
    func damaged() async throws {
        try await withTemporaryDirectory { directory in
            let cameras = AddedCameras(dataDirectory: directory)
            let source = #"{"cameras":[{"name":"a","rtspTransport":"tcp","url":"exec:x","viewers":8}]}"#
            for text in ["", "{}", source] {
                try PrivateFile.write(text, to: cameras.path)
                let error = #expect(throws: IoTError.self) { try cameras.load() }
                #expect(error?.code == .invalidConfiguration && error?.message.contains(cameras.path) == true)
            }
        }
    }
}
