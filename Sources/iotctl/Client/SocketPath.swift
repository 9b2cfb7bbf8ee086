import Foundation

/// Where the daemon listens.
enum SocketPath {
    /// `--socket`, then `IOTCTL_SOCKET`, then the paths that a daemon takes by default: this user's own before the
    /// system's.
    static func find(
        option: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
        isRoot: Bool = geteuid() == 0, exists: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
    ) -> String {
        if let option { return option }
        if let variable = environment["IOTCTL_SOCKET"], !variable.isEmpty { return variable }
        let system = "/run/iotvideod/iotvideod.sock"
        if isRoot { return system }
        func directory(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let state = directory("XDG_STATE_HOME") ?? (directory("HOME") ?? "/tmp") + "/.local/state"
        let own = (directory("XDG_RUNTIME_DIR") ?? state + "/iotvideod") + "/iotvideod.sock"
        return !exists(own) && exists(system) ? system : own
    }
}
