package import IoTCore

/// The sound of a camera.
package enum CameraSound: Sendable, Hashable {
    case coded(AudioParameters)

    /// MPEG audio of layers I to III, such as MP3. Each frame has its own header with its sample rate and channels.
    case mpeg
}
