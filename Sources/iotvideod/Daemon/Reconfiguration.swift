import IoTCore

/// The minimum number of steps from the running cameras to the cameras of a new configuration.
struct Reconfiguration: Sendable {
    /// The changes by name, for the reply to the request.
    let change: ConfigurationChange
    /// The configuration that runs afterwards.
    let configuration: Configuration
    /// Names of the cameras that stop.
    let ends: [String]
    /// The cameras that start, each in place of the previous one of the same name, with their settings for opening.
    let begins: [CameraSettings]

    /// - Parameters:
    /// - old: the running configuration.
    /// - running: the running cameras by name, as they were opened. A camera that could not be started is not included.
    /// - openable: the cameras of `new`, with their settings for opening.
    init(from old: Configuration, running: [String: CameraSettings], to new: Configuration, openable: [CameraSettings])
    {
        var change = ConfigurationChange(from: old, to: new)
        // Cameras with a new password but the same keys, and those that could not be started before, count as changed.
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
