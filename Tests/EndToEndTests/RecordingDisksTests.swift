import Foundation
import Testing

/// A daemon that records its cameras on several disks.
@Suite(.serialized, .timeLimit(.minutes(3))) struct RecordingDisksTests {
    private static func configuration(_ directories: String) -> String {
        let clip = Product.sample("street-h264-aac.mp4")
        return """
            recording: {directory: rec, \(directories)sync: strict, freeSpace: 0}
            cameras:
              - {name: front, url: \(clip), record: continuous}
              - {name: yard, url: \(clip), record: continuous}

            """
    }

    private static func recordings(_ daemon: RunningDaemon, _ camera: String) async throws -> [[String: Any]] {
        let list = try await daemon.api.request("GET", "/v1/devices/\(camera)/recordings")
        return list.object["recordings"] as? [[String: Any]] ?? []
    }

    private static func end(_ daemon: RunningDaemon, _ camera: String) async throws -> Int {
        try await recordings(daemon, camera).compactMap { $0["end"] as? Int }.max() ?? 0
    }

    /// The directories of cameras on a disk.
    private static func cameras(_ folder: TemporaryFolder, _ disk: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.path(disk)).filter { $0.hasPrefix("0") })
    }

    private static func state(_ daemon: RunningDaemon, _ camera: String) async throws -> String {
        let shown = try await daemon.iotctl("camera", "show", camera).text
        return shown.firstMatch(of: #/recording +([a-z]+)/#).map { String($0.1) } ?? shown
    }

    @Test("Each camera is recorded on its own disk, a lost disk pauses its cameras alone, and all are read as one")
    func several() async throws {
        let folder = try TemporaryFolder()
        let other = folder.path("other")
        let files = FileManager.default
        do {
            let daemon = try await RunningDaemon(
                folder: folder, configuration: Self.configuration("cameraDirectories: {yard: other}, "))
            try await eventually("both are recorded") {
                let ends = [try await Self.end(daemon, "front"), try await Self.end(daemon, "yard")]
                return !ends.contains(0)
            }
            let (first, second) = (try Self.cameras(folder, "rec"), try Self.cameras(folder, "other"))
            #expect(first.count == 1 && second.count == 1 && first != second)

            try files.moveItem(atPath: other, toPath: other + ".away")
            try await eventually("the yard's recording is paused") {
                try await Self.state(daemon, "yard") == "paused"
            }
            #expect(try await Self.state(daemon, "front") == "recording")
            let end = try await Self.end(daemon, "front")
            try await eventually("the front's goes on") { try await Self.end(daemon, "front") > end + 1_000 }
            let lost = try await daemon.iotctl(
                "recording", "download", "yard", "1", "--output", folder.path("lost.mp4"))
            #expect(lost.status == 1 && lost.errors.hasPrefix("error 21039 "), "\(lost.errors)")
            // Only the yard's recordings are away.
            let found = try await daemon.iotctl("recording", "check")
            #expect(found.status == 1 && found.text.contains("other: not compared"), "\(found)")
            let ago = ["--from", "48h", "--to", "47h", "--yes"]
            let others = try await daemon.iotctl(["recording", "remove", "front"] + ago)
            #expect(others.status == 0 && others.text.contains("removed 0"), "\(others)")
            try files.moveItem(atPath: other + ".away", toPath: other)
            try await eventually("the yard's continues") {
                let recordings = try await Self.recordings(daemon, "yard")
                return try await Self.state(daemon, "yard") == "recording" && recordings.count > 1
            }
            for camera in ["front", "yard"] {
                let file = folder.path("\(camera).mp4")
                let download = try await daemon.iotctl("recording", "download", camera, "1", "--output", file)
                #expect(download.status == 0, "\(download.errors)")
                #expect(try await FrameDigests.of(file).count > 5)
            }
            let check = try await daemon.iotctl("recording", "check", "--json")
            #expect(check.status == 0, "\(check.text)")
            #expect(await daemon.stop() == 0)
        }
        // Without the second disk in the configuration.
        let daemon = try await RunningDaemon(folder: folder, configuration: Self.configuration(""))
        try await eventually("the yard is recorded on the first disk") {
            try Self.cameras(folder, "rec").count == 2
        }
        let old = try await daemon.iotctl("recording", "download", "yard", "1", "--output", folder.path("old.mp4"))
        #expect(old.status == 1 && old.errors.hasPrefix("error 21039 "), "\(old.errors)")
        #expect(old.errors.contains("recording.cameraDirectories"), "\(old.errors)")
        #expect(await daemon.stop() == 0)
    }
}
