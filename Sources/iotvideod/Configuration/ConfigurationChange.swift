import IoTCore

/// What a new configuration changes in a running daemon.
struct ConfigurationChange: Sendable, Equatable {
    /// Names of cameras.
    var added: [String] = []
    var changed: [String] = []
    var removed: [String] = []
    /// Keys that take effect immediately.
    var applied: [String] = []
    /// Keys that take effect at the next start.
    var restartNeeded: [String] = []

    var isEmpty: Bool { self == ConfigurationChange() }

    init() {}

    /// - Parameter old: the running configuration, as returned by `adopting(_:)` after a change.
    init(from old: Configuration, to new: Configuration) {
        let before = Dictionary(old.cameras.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let after = Set(new.cameras.map(\.name))
        for camera in new.cameras {
            if let known = before[camera.name] {
                if known != camera { changed.append(camera.name) }
            } else {
                added.append(camera.name)
            }
        }
        removed = old.cameras.map(\.name).filter { !after.contains($0) }
        for key in ConfigurationKey.all where !key.isEqual(old, new) {
            switch key.effect {
            case .atOnce: applied.append(key.name)
            case .atRestart: restartNeeded.append(key.name)
            }
        }
    }
}

/// The text for the log.
extension ConfigurationChange: CustomStringConvertible {
    var description: String {
        if isEmpty { return "nothing changed" }
        let parts = [
            ("added", added), ("changed", changed), ("removed", removed), ("applied", applied),
            ("needs a restart", restartNeeded),
        ]
        return parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
    }
}

extension Configuration {
    /// The running configuration after `new` has been adopted: its cameras, and the keys that take effect immediately.
    /// The other keys stay as they are until a restart, and every later change reports them again.
    func adopting(_ new: Configuration) -> Configuration {
        var running = self
        running.cameras = new.cameras
        for key in ConfigurationKey.all where key.effect == .atOnce { key.take(new, &running) }
        return running
    }
}
