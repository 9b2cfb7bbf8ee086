import Foundation
import IoTCore

/// The path of the daemon's socket on this machine, and the paths that were tried.
struct SocketPath: Sendable, Equatable {
    static let system = "/run/iotvideod/iotvideod.sock"

    let path: String
    /// The paths that were tried, in order. Only one if the user gave the path.
    var tried: [String]

    init(_ path: String, tried: [String]? = nil) {
        self.path = path
        self.tried = tried ?? [path]
    }

    /// Uses `--socket`, then `IOTCTL_SOCKET`, then the first existing default path of a daemon: this user's own, in
    /// `$XDG_RUNTIME_DIR` or the state directory, then the system's.
    static func find(
        option: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
        isRoot: Bool = geteuid() == 0, isThere: (String) -> Bool = Self.isThere
    ) -> SocketPath {
        if let option { return SocketPath(option) }
        if let variable = environment["IOTCTL_SOCKET"], !variable.isEmpty { return SocketPath(variable) }
        if isRoot { return SocketPath(system) }
        func directory(_ name: String) -> String? {
            environment[name].flatMap { $0.isAbsolutePath ? $0 : nil }
        }
        let state = directory("XDG_STATE_HOME") ?? (directory("HOME") ?? "/tmp") + "/.local/state"
        let own = (directory("XDG_RUNTIME_DIR") ?? state + "/iotvideod") + "/iotvideod.sock"
        if isThere(own) { return SocketPath(own) }
        return SocketPath(system, tried: [own, system])
    }

    /// False in a directory that this user may not enter. After su(1), `XDG_RUNTIME_DIR` is another user's.
    private static func isThere(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0
    }
}
