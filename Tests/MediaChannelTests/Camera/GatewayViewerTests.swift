import IoTCore
import IoTLink
import NIOCore
import NIOEmbedded
import RTP
import Testing

@testable import MediaChannel
@testable import PeerTransport

/// Tests a gateway's viewer in virtual time.
@Suite struct GatewayViewerTests {
    @Test("Before `play` it gets nothing; then the newest key frame and all after it, paced; then each frame on time")
    func start() throws {
        let camera = VirtualCamera()
        let (viewer, peer) = try camera.gateway(wantsMedia: false)
        camera.run(pictures: 80)
        peer.happens(.stateChanged(.connected))
        camera.run(pictures: 1)
        #expect(peer.take().isEmpty)
        let begin = camera.loop.now
        viewer.perform(.play, at: begin)
        camera.loop.advanceTime(by: .milliseconds(39))
        let burst = peer.take()
        let pictures = burst.filter { $0.mid == "video" }.map(\.packet)
        #expect(pictures.first?.isKeyFrameStart == true && pictures.first?.pts == Int64(50 * 40_000))
        #expect(pictures.last?.pts == Int64(80 * 40_000))
        #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.sequence + 1 == $1.sequence })
        #expect(burst.first { $0.mid == "audio" }?.packet.pts == Int64(50 * 40_000), "the sound at that key frame")
        let batches = Dictionary(grouping: burst) { ($0.time - begin).nanoseconds }
        #expect(batches.count > 2, "\(batches.count)")
        for (time, batch) in batches {
            #expect(time % 3_000_000 == 0, "batches leave 3 ms apart")
            let bytes = batch.reduce(0) { $0 + $1.packet.payload.readableBytes }
            #expect(bytes <= ViewerFeed.burst + 1_200, "\(bytes) at once")
        }
        camera.loop.advanceTime(by: .milliseconds(1))
        camera.take(81, at: 81 * 40_000, hasSound: true)
        let live = peer.take()
        #expect(Set(live.map(\.time)) == [camera.loop.now])
        #expect(live.map(\.mid) == ["video", "video", "audio", "audio"])
        #expect(
            peer.mediaClockAnchor == MediaClockAnchor(pts: 0, wallClock: VirtualCamera.wall), "the source's own clock")
    }

    @Test("`stop` and a camera that is switched off end the packets; both restart at the newest key frame")
    func pauses() throws {
        let camera = VirtualCamera()
        let (viewer, peer) = try camera.gateway()
        camera.run(pictures: 20)
        peer.happens(.stateChanged(.connected))
        camera.run(pictures: 10)
        #expect(peer.take().last?.packet.pts == Int64(29 * 40_000 + 20_000))
        viewer.perform(.stop, at: camera.loop.now)
        camera.run(pictures: 25)
        #expect(peer.take().isEmpty)
        viewer.perform(.play, at: camera.loop.now)
        #expect(peer.take().first?.packet.pts == Int64(50 * 40_000))
        camera.stream.turn(on: false)
        camera.run(pictures: 5)
        viewer.perform(.play, at: camera.loop.now)
        #expect(peer.take().isEmpty)
        camera.stream.turn(on: true)
        #expect(peer.take().first?.packet.pts == Int64(50 * 40_000))
    }

    @Test("Missing packets are sent again unchanged; key frame requests are ignored; it stays when B-frames come")
    func repairs() throws {
        let camera = VirtualCamera()
        let (_, peer) = try camera.gateway()
        peer.happens(.stateChanged(.connected))
        camera.run(pictures: 20)
        let sent = peer.take().filter { $0.mid == "video" }.map(\.packet)
        peer.happens(.retransmissionRequested(mid: "video", [3, 4, 1_000_000]))
        #expect(peer.resent.map(\.sequence) == [3, 4])
        #expect(peer.resent.map(\.pts) == sent.filter { [3, 4].contains($0.sequence) }.map(\.pts))
        #expect(peer.resent.map(\.payload) == sent.filter { [3, 4].contains($0.sequence) }.map(\.payload))
        peer.lacking = [0, 1]
        peer.happens(.keyFrameRequested(mid: "video"))
        camera.loop.advanceTime(by: .seconds(3))
        peer.happens(.keyFrameRequested(mid: "video"))
        #expect(peer.take().isEmpty && peer.repaired.isEmpty)
        camera.take(1, at: 40_000)
        #expect(camera.ended.isEmpty && !peer.isClosed)
    }

    @Test("A connection takes its place when established; one too many ends with 20007; each end is reported once")
    func places() throws {
        let camera = VirtualCamera(maximumViewers: 1)
        let (_, first) = try camera.gateway("a", user: "u/a")
        let (_, second) = try camera.gateway("b", user: "u/b")
        first.happens(.stateChanged(.connected))
        second.happens(.stateChanged(.connected))
        #expect(camera.ended == ["b allChannelsBusy"] && second.isClosed && !first.isClosed)
        #expect(Set(camera.stream.viewers.keys) == ["a"])
        second.happens(.stateChanged(.closed))
        camera.stream.viewers["a"]?.hungUp()
        first.happens(.stateChanged(.closed))
        #expect(camera.ended == ["b allChannelsBusy", "a left"] && camera.stream.viewers.isEmpty)
        let (viewer, _) = try camera.gateway("c")
        camera.stream.close()
        #expect(camera.ended.last == "c stopping" && viewer.connection.peer == nil)
    }

    @Test("Over the control channel it gets what it cannot measure: the camera's stream, and the path to itself")
    func statistics() throws {
        let camera = VirtualCamera()
        let (_, peer) = try camera.gateway()
        peer.happens(.stateChanged(.connected))
        camera.run(pictures: 60)
        peer.statistics.bytesSent = 1_234
        peer.statistics.availableOutgoingBitrate = 800_000
        peer.statistics.currentRoundTripTime = .milliseconds(25)
        let id = DataChannelID(value: 3)
        peer.happens(
            .dataChannelOpened(
                DataChannel(
                    id: id, label: "iotlink.control", subprotocol: "", options: DataChannelOptions(), isRemote: true,
                    state: .open)))
        peer.happens(
            .dataChannelMessage(id, .text(#"{"jsonrpc":"2.0","id":1,"method":"statistics.get","params":{}}"#)))
        let answer = try JSONValue(parsing: try #require(peer.texts.last))
        let report = try #require(answer["result"])
        #expect(report["viewers"] == .integer(1) && report["talkers"] == .integer(0))
        #expect(report["bytesSent"] == .integer(1_234) && report["availableOutgoingBitrate"] == .integer(800_000))
        #expect(report["currentRoundTripTime"] == .number(0.025))
        // 50 pictures have 60,000 + 49 * 2,000 bytes.
        guard case .number(let rate)? = report["video"]?["framesPerSecond"],
            case .integer(let bitrate)? = report["video"]?["bitrate"]
        else {
            Issue.record("\(report)")
            return
        }
        #expect(abs(rate - 25) < 0.1 && (300_000...1_500_000).contains(bitrate), "\(rate) \(bitrate)")
        #expect(report["audio"]?["framesPerSecond"] == nil && report["audio"]?["bitrate"] != nil)
    }

    @Test("A connection that has ended accepts nothing: no answer, candidate, packet or timer")
    func gone() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 40)
        let (viewer, peer) = try camera.gateway()
        peer.happens(.stateChanged(.connected))
        _ = peer.take()
        peer.happens(.stateChanged(.failed(IoTError(.timeoutDisconnected))))
        #expect(!viewer.connection.feed.isStarted && peer.isClosed)
        viewer.perform(.play, at: camera.loop.now)
        camera.run(pictures: 5)
        #expect(peer.take().isEmpty && camera.ended == ["gateway timeoutDisconnected"])
        #expect(throws: IoTError.self) { try viewer.connection.addRemoteCandidate("candidate:x") }
    }
}
