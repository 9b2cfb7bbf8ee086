import GatewayAPI
import IoTCore
import MediaPlayer

extension PresentationSettings {
    /// The settings after a change.
    ///
    /// - Throws: `invalidParameter` for a value that does not exist.
    func changed(by change: ChannelSettings) throws(IoTError) -> PresentationSettings {
        var settings = self
        if let muted = change.muted { settings.isMuted = muted }
        if let volume = change.volume {
            guard [volume.left, volume.right].allSatisfy(SoundVolume.range.contains) else {
                throw IoTError(.invalidParameter, "volume: left and right must be from 0 to 1")
            }
            settings.volume = volume
        }
        if let degrees = change.rotation {
            guard let rotation = PictureRotation(rawValue: degrees) else {
                throw IoTError(.invalidParameter, "rotation must be 0, 90, 180 or 270 degrees, anti-clockwise")
            }
            settings.rotation = rotation
        }
        if let name = change.echo {
            guard let echo = EchoTreatment(rawValue: name) else {
                throw IoTError(.invalidParameter, "echo must be duck or keep")
            }
            settings.echo = echo
        }
        return settings
    }
}

extension ChannelDescription {
    mutating func take(_ settings: PresentationSettings) {
        muted = settings.isMuted
        volume = settings.volume
        rotation = settings.rotation.rawValue
        echo = settings.echo
    }
}
