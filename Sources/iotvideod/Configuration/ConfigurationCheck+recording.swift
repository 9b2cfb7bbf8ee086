import Foundation
import IoTCore

extension ConfigurationCheck {
    /// Reasons why cameras will not be recorded, or not where they should be: a directory whose parent is missing, more free
    /// space than the disk has, and a name that no camera has.
    static func findings(_ recording: Configuration.Recording, cameras: [String]) -> [Finding] {
        var findings: [Finding] = []
        let places =
            [("recording.directory", recording.directory)]
            + recording.cameraDirectories.sorted { $0.key < $1.key }.map { name, path in
                ("recording.cameraDirectories, \(name)", path)
            }
        for case (let key, let path?) in places {
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            if access(path, F_OK) != 0, access(parent, F_OK) != 0 {
                findings.append(
                    Finding(key: key, reason: "there is no directory \(parent); recording begins when there is one"))
            } else if let total = OpenFile.totalSpace(at: path) ?? OpenFile.totalSpace(at: parent),
                recording.freeSpace >= total
            {
                findings.append(
                    Finding(
                        key: "recording.freeSpace",
                        reason: "\(path) has \(total) bytes in all, so nothing can be recorded there"))
            }
        }
        for name in recording.cameraDirectories.keys.sorted() where !cameras.contains(name) {
            findings.append(
                Finding(
                    key: "recording.cameraDirectories",
                    reason:
                        "no camera of the configuration has the name '\(name)'; that is right only for a camera added by `iotctl`"
                ))
        }
        return findings
    }
}
