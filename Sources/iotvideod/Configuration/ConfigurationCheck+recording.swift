import Foundation

extension ConfigurationCheck {
    /// What prevents recording, which begins when it is mended: directories without a parent, names of no camera, and a floor
    /// that the disk cannot have free.
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
            } else if let total = total(path) ?? total(parent), recording.freeSpace >= total {
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
                    reason: "no camera of the configuration is called '\(name)'; only one that is added may be"))
        }
        return findings
    }

    /// The size of the file system, in bytes.
    private static func total(_ path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize)).0)
    }
}
