import Foundation

/// Where things stand when the configuration does not say.
struct DefaultPaths: Sendable, Equatable {
    var dataDirectory: String
    var socket: String

    /// Those of the user who runs this process.
    static var current: DefaultPaths {
        DefaultPaths(environment: ProcessInfo.processInfo.environment, isRoot: geteuid() == 0)
    }

    /// - Parameter environment: `XDG_STATE_HOME`, `XDG_RUNTIME_DIR` and `HOME` are used, as the XDG Base Directory
    ///   Specification says; relative paths in them are ignored.
    init(environment: [String: String], isRoot: Bool) {
        func directory(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if isRoot {
            dataDirectory = "/var/lib/iotvideod"
            socket = "/run/iotvideod/iotvideod.sock"
        } else {
            let state = directory("XDG_STATE_HOME") ?? (directory("HOME") ?? "/tmp") + "/.local/state"
            dataDirectory = state + "/iotvideod"
            // Without a login session there is no runtime directory; the state directory is as private.
            socket = (directory("XDG_RUNTIME_DIR") ?? dataDirectory) + "/iotvideod.sock"
        }
    }
}
