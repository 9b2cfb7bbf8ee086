import Foundation
import IoTCore

/// The paths that are used if the configuration does not set them.
struct DefaultPaths: Sendable, Equatable {
    var dataDirectory: String
    var socket: String

    /// The paths for the user who runs this process.
    static var current: DefaultPaths {
        DefaultPaths(environment: ProcessInfo.processInfo.environment, isRoot: geteuid() == 0)
    }

    /// - Parameter environment: only `XDG_STATE_HOME`, `XDG_RUNTIME_DIR` and `HOME` are used. Relative paths are
    ///   ignored (XDG Base Directory Specification).
    init(environment: [String: String], isRoot: Bool) {
        func directory(_ name: String) -> String? {
            environment[name].flatMap { $0.isAbsolutePath ? $0 : nil }
        }
        if isRoot {
            dataDirectory = "/var/lib/iotvideod"
            socket = "/run/iotvideod/iotvideod.sock"
        } else {
            let state = directory("XDG_STATE_HOME") ?? (directory("HOME") ?? "/tmp") + "/.local/state"
            dataDirectory = state + "/iotvideod"
            // Without a login session there is no runtime directory, so the state directory is used, which is also private.
            socket = (directory("XDG_RUNTIME_DIR") ?? dataDirectory) + "/iotvideod.sock"
        }
    }
}
