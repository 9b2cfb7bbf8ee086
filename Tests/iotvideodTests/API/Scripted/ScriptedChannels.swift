import GatewayAPI
import IoTCore
import MediaChannel
import NIOCore
import PeerTransport

@testable import Gateway

struct ScriptedChannels: GatewayChannels {
    let session: ScriptedSession

    /// A body that never ends.
    private func media(_ type: String) -> MediaBody {
        session.lease.needs(device: RouterFixture.device)
        return MediaBody(
            contentType: type,
            chunks: AsyncThrowingStream(unfolding: {
                try await Task.sleep(for: .milliseconds(20))
                return ByteBuffer(string: "picture")
            }))
    }

    func open(_ request: ChannelRequest) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func list(_ page: PageRequest) async throws -> Page<ChannelDescription> {
        try session.note()
        return Page([])
    }

    func show(_ id: String) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func events(_ id: String) async throws -> AsyncStream<ChannelUpdate> {
        try session.note()
        throw IoTError(.notFound)
    }

    func play(_ id: String) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func change(_ id: String, _ change: ChannelSettings) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func changePlayback(_ id: String, _ request: PlaybackRequest) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func stepPlayback(_ id: String) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func talk(_ id: String, _ sound: MediaInput) async throws -> TalkReport {
        try session.note()
        throw IoTError(.notFound)
    }

    func stopTalk(_ id: String) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func send(_ id: String, _ message: ChannelMessage) async throws -> MessageResponse {
        try session.note()
        throw IoTError(.notFound)
    }

    func responses(_ id: String, _ message: ChannelMessage) async throws -> MediaBody {
        try session.note()
        throw IoTError(.notFound)
    }

    func messages(_ id: String) async throws -> MediaBody {
        try session.note()
        throw IoTError(.notFound)
    }

    func stream(
        _ id: String, _ messages: any AsyncSequence<ByteBuffer, any Error> & Sendable
    ) async throws -> DataReport {
        try session.note()
        throw IoTError(.notFound)
    }

    func close(_ id: String) async throws -> ChannelDescription {
        try session.note()
        throw IoTError(.notFound)
    }

    func snapshot(_ id: String, format: SnapshotFormat, fit: PictureFit?) async throws -> Picture {
        try session.note()
        if id == "endless" { try await session.waitForCancellation() }
        throw IoTError(.notFound)
    }

    func recording(_ id: String, frames: Int?) async throws -> MediaBody {
        try session.note()
        guard id == "endless" else { throw IoTError(.notFound) }
        return media("video/mp4")
    }

    func rawVideo(_ id: String, frames: Int?, fit: PictureFit?) async throws -> MediaBody {
        try session.note()
        if id == "short" {
            var body = MediaBody(contentType: "video/x-yuv4mpeg", bytes: ByteBuffer(string: "picture"))
            body.contentLength = nil
            body.framesDropped = { 3 }
            return body
        }
        guard id == "endless" else { throw IoTError(.notFound) }
        return media("video/mp4")
    }

    func rawAudio(_ id: String, frames: Int?) async throws -> MediaBody {
        try session.note()
        guard id == "endless" else { throw IoTError(.notFound) }
        return media("video/mp4")
    }

    func dump(_ id: String, _ part: DumpPart) async throws -> MediaBody {
        try session.note()
        guard id == "endless" else { throw IoTError(.notFound) }
        return media("video/h264")
    }

    func resource(_ token: String) async throws -> MediaBody {
        try session.note()
        throw IoTError(.notFound)
    }
}

struct ScriptedCalls: GatewayCalls {
    let session: ScriptedSession

    func iceServers(_ device: String) async throws -> [ICEServer] {
        try session.note()
        return [try ICEServer(urls: ["stun:192.0.2.1:3478"])]
    }

    func open(_ device: String, _ wish: BrowserWish) async throws -> RelayedCalls.Answer {
        try session.note()
        return RelayedCalls.Answer(
            id: "00ff", description: "v=0\r\n",
            iceServers: [
                try ICEServer(urls: ["stun:192.0.2.1:3478"]),
                try ICEServer(urls: ["turn:192.0.2.1?transport=udp"], username: "1:a", credential: "b+/="),
            ])
    }

    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws { try session.note() }

    func close(_ id: String) async throws { try session.note() }
}
