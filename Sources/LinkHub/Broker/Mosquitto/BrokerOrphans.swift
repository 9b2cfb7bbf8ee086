import Foundation
import Glibc

/// The brokers that remain after a daemon was killed.
///
/// A broker belongs to this data directory if it runs as our account with exactly our configuration file as its
/// argument: the path is unique to the directory, and the daemon's lock ensures that no other daemon uses it. This
/// needs no file with a process id, which could be stale and name an unrelated process.
enum BrokerOrphans {
    static func find(settingsFile: String) -> [pid_t] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { pid_t($0) }.filter { isOurs($0, settingsFile: settingsFile) }
    }

    /// Kills them and waits until they have ended. They hold nothing that must be saved.
    /// - Returns: How many there were.
    static func reclaim(settingsFile: String) async -> Int {
        let orphans = find(settingsFile: settingsFile)
        for orphan in orphans { kill(orphan, SIGKILL) }
        for orphan in orphans {
            var attempts = 0
            while isOurs(orphan, settingsFile: settingsFile), attempts < 1_000 {
                attempts += 1
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        return orphans.count
    }

    private static func isOurs(_ process: pid_t, settingsFile: String) -> Bool {
        guard let arguments = FileManager.default.contents(atPath: "/proc/\(process)/cmdline"),
            let user = try? FileManager.default.attributesOfItem(atPath: "/proc/\(process)")[.ownerAccountID]
                as? NSNumber,
            user.uint32Value == geteuid()
        else { return false }
        let words = arguments.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return words.count == 3 && words[0].hasSuffix("mosquitto") && words[1] == "-c" && words[2] == settingsFile
    }
}
