import GatewayAPI
import IoTCore
import IoTLink
import LinkHub
import Logging
import MediaChannel
import NIOCore
import ThingModel

/// The gateway behind the HTTP API: the owner's link, the channels, and the cameras of this daemon.
final class LocalGateway: Gateway {
    let link: LinkSession
    let model: ThingModelClient
    let accessId: AccessID
    let registry: ChannelRegistry
    let cameraServices: [Camera]
    let photos: PhotoStore
    let hub: LinkHub?
    let uses: ChannelUses
    let names = DeviceNames()
    private let startedAt = NIODeadline.now()

    init(
        link: LinkSession, accessId: AccessID, registry: ChannelRegistry, cameras: [Camera], photos: PhotoStore,
        hub: LinkHub?, idleTimeout: Duration
    ) {
        self.link = link
        self.accessId = accessId
        self.registry = registry
        cameraServices = cameras
        self.photos = photos
        self.hub = hub
        model = ThingModelClient(link: link)
        uses = ChannelUses(registry: registry, idleTimeout: idleTimeout)
    }

    func status() async throws -> StatusResponse {
        let change = link.current
        let uptime = (NIODeadline.now() - startedAt).nanoseconds / 1_000_000_000
        return StatusResponse(
            uptime: Int(uptime),
            link: LinkState(change.status, reason: change.reason, since: change.since, accessId: accessId.rawValue),
            hub: hubState(), broker: brokerState(), cameras: cameraServices.count,
            channels: await registry.all.count)
    }

    func cameras() async throws -> [CameraDescription] {
        var descriptions: [CameraDescription] = []
        for camera in cameraServices { descriptions.append(CameraDescription(await camera.snapshot())) }
        return descriptions
    }

    func resource(_ token: String) async throws -> MediaBody {
        guard let picture = photos.picture(named: token, at: .now()) else {
            throw IoTError(.notFound, "there is no such resource, or it is older than ten minutes")
        }
        return MediaBody(contentType: "image/jpeg", bytes: picture.bytes)
    }

    private func hubState() -> HubState {
        HubState(enabled: hub != nil, ready: hub?.brokerProcessIdentifier != nil, endpoint: hub?.endpoint.description)
    }

    private func brokerState() -> BrokerState? {
        guard let hub else { return nil }
        let process = hub.brokerProcessIdentifier
        return BrokerState(
            state: process == nil ? .starting : .running, process: process.map(Int.init),
            restarts: max(0, hub.brokerStarts - 1))
    }

    func prepareToStop() async {
        await uses.closeAll()
    }
}

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
            name: camera.name, device: camera.device.rawValue, url: camera.url, state: state, reason: reason,
            tracks: tracks, bitrate: bitrates.isEmpty ? nil : bitrates.reduce(0, +), viewers: camera.viewers,
            viewerLimit: camera.maximumViewers)
    }
}
