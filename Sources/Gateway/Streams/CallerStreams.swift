import IoTCore
import IoTLink
import MediaChannel
import RTP

struct CallerStreams: GatewayStreams {
    let session: CallerSession

    func tracks(of device: String, _ definition: Definition) async throws -> [RTPCodec] {
        try await camera(session.viewable(device)).readerTracks(definition)
    }

    func read(_ device: String, _ definition: Definition, sink: any ReaderSink) async throws -> StreamUse {
        let entry = try await session.viewable(device)
        let camera = try await camera(entry)
        session.lease.needs(device: entry.id)
        let part = try session.take(.readers)
        let reader = try await camera.addReader(
            definition, account: session.accountName, isOwner: entry.isOwner, sink: sink)
        return StreamUse(reader: reader, part: part)
    }

    private func camera(_ entry: AccountRights.Entry) async throws -> Camera {
        let cameras = await session.gateway.fleet.cameras()
        guard let camera = cameras.first(where: { $0.device.rawValue == entry.id }) else {
            throw IoTError(
                .notFound, "'\(entry.name)' is not a camera of this box",
                remedy: "use the RTSP server of the camera's own box, or use `iotctl monitor`")
        }
        return camera
    }
}
