import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel

extension CameraDescription {
    init(_ camera: CameraSnapshot) {
        var tracks: [TrackDescription] = []
        if let video = camera.media.video {
            tracks.append(
                TrackDescription(
                    kind: .video, codec: video.codec.rawValue, width: video.width, height: video.height,
                    frameRate: video.frameRate, bitrate: video.bitrate))
        }
        if let audio = camera.media.audio {
            tracks.append(
                TrackDescription(
                    kind: .audio, codec: audio.codec.rawValue, sampleRate: audio.sampleRate, channels: audio.channels,
                    bitrate: audio.bitrate))
        }
        var reason: IoTError?
        let state: State
        switch camera.source {
        case .connecting: state = .connecting
        case .ready: state = camera.isOn ? .ready : .off
        case .failed(let error):
            state = .failed
            reason = error
        }
        let bitrates = tracks.compactMap(\.bitrate)
        self.init(
            name: camera.name, device: camera.device.rawValue, url: camera.url, state: state, since: camera.since,
            reason: reason, tracks: tracks, bitrate: bitrates.isEmpty ? nil : bitrates.reduce(0, +),
            viewers: camera.viewers, viewerLimit: camera.maximumViewers,
            caller: camera.call?.user.id, call: camera.call?.id, ringing: camera.call?.isRinging,
            settings: camera.shown)
    }
}
