import IoTCore

/// The fewest steps from the cameras that run to those of a new configuration.
struct Reconfiguration: Sendable {
    /// What is new, by name: told to whoever asked for it.
    let change: ConfigurationChange
    /// What runs afterwards.
    let configuration: Configuration
    /// Names of the cameras that end.
    let ends: [String]
    /// The cameras that begin, each in place of an older one of its name, as to be opened.
    let begins: [CameraSettings]

    /// - Parameters:
    ///   - old: the configuration that runs.
    ///   - running: its cameras that run, as they were opened, by name. One that could not be started is not among them.
    ///   - openable: the cameras of `new`, as to be opened.
    init(from old: Configuration, running: [String: CameraSettings], to new: Configuration, openable: [CameraSettings])
    {
        var change = ConfigurationChange(from: old, to: new)
        // A new password behind the same keys, and what could not be started before.
        change.changed = openable.filter { camera in
            change.changed.contains(camera.name)
                || !change.added.contains(camera.name) && running[camera.name]?.url != camera.url
        }.map(\.name)
        self.change = change
        configuration = old.adopting(new)
        ends = change.removed
        begins = openable.filter { change.added.contains($0.name) || change.changed.contains($0.name) }
    }
}
