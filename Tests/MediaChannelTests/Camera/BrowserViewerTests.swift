import IoTCore
import NIOCore
import NIOEmbedded
import PeerTransport
import RTP
import Synchronization
import Testing

@testable import MediaChannel

/// Tests a browser in virtual time.
@Suite struct BrowserViewerTests {
    private static let frame: Int64 = 40_000

    @Test("Pictures from before it joined are compressed into the last moment before the live edge; sound starts there")
    func start() throws {
        let camera = VirtualCamera()
        camera.run(pictures: 80)
        let (_, peer) = try camera.browser()
        peer.happens(.stateChanged(.connected))
        camera.loop.advanceTime(by: .milliseconds(39))
        let burst = peer.take()
        let edge = 79 * Self.frame
        let past = 29 * Self.frame
        #expect(Set(burst.map(\.mid)) == ["p"], "no sound from the past")
        #expect(burst.first?.packet.isKeyFrameStart == true)
        #expect(burst.first?.packet.pts == edge - past / 64)
        #expect(burst.last?.packet.pts == edge)
        #expect(zip(burst, burst.dropFirst()).allSatisfy { $0.packet.pts <= $1.packet.pts })
        #expect(
            burst.allSatisfy { abs(Int64($0.packet.timestamp) - $0.packet.pts * 9 / 100) <= 1 },
            "90 kHz, on its own clock")
        camera.run(pictures: 1)
        let live = peer.take()
        #expect(live.map(\.mid) == ["p", "p", "s", "s"])
        #expect(live.first?.packet.pts == edge + Self.frame)
        #expect(live.first?.packet.sequence == burst.last.map { $0.packet.sequence + 1 })
        #expect(peer.mediaClockAnchor == MediaClockAnchor(pts: 0, wallClock: VirtualCamera.wall))
    }

    @Test("A jump of the source's clock becomes the time that really passed, for media and sender reports")
    func jump() throws {
        let camera = VirtualCamera()
        let (_, peer) = try camera.browser()
        peer.happens(.stateChanged(.connected))
        camera.run(pictures: 10, hasSound: false)
        let before = try #require(peer.take().last?.packet.pts)
        #expect(before == 9 * Self.frame)
        camera.take(10, at: 1_000_000_000, isDiscontinuity: true)
        let after = peer.take()
        #expect(after.map(\.packet.pts) == Array(repeating: 10 * Self.frame, count: after.count) && !after.isEmpty)
        #expect(
            peer.mediaClockAnchor
                == MediaClockAnchor(pts: 10 * Self.frame, wallClock: VirtualCamera.wall + 10 * Self.frame))
    }

    @Test(
        "A key frame request first repairs lacking packets, then restarts the group at a later time")
    func keyFrames() throws {
        let camera = VirtualCamera()
        let (_, peer) = try camera.browser()
        peer.happens(.stateChanged(.connected))
        camera.run(pictures: 60, hasSound: false)
        let shown = peer.take()
        peer.happens(.keyFrameRequested(mid: "p"))
        peer.happens(.keyFrameRequested(mid: "s"))
        #expect(peer.repaired.isEmpty)
        let start = try #require(shown.last { $0.packet.isKeyFrameStart }?.packet.sequence)
        peer.lacking = [start, start + 1]
        peer.happens(.keyFrameRequested(mid: "p"))
        #expect(peer.repaired == [[start, start + 1]] && peer.take().isEmpty)
        camera.loop.advanceTime(by: .milliseconds(299))
        peer.happens(.keyFrameRequested(mid: "p"))
        #expect(peer.repaired.count == 1, "repairs have time to arrive")
        camera.loop.advanceTime(by: .milliseconds(1))
        peer.happens(.keyFrameRequested(mid: "p"))
        let restarted = peer.take().map(\.packet)
        #expect(restarted.first?.sequence == start && peer.repaired.count == 1)
        let last = try #require(shown.last?.packet.pts)
        #expect(restarted.allSatisfy { $0.pts > last }, "nothing is placed before pictures that it may have shown")
        peer.happens(.retransmissionRequested(mid: "p", [start]))
        #expect(peer.resent.map(\.pts) == [try #require(restarted.first?.pts)], "resent on the same clock")
    }

    @Test("Sound that a browser cannot play is transcoded to Opus only while such browsers are connected")
    func opus() throws {
        let camera = VirtualCamera()
        let (original, _) = try camera.browser("a")
        #expect(camera.stream.main.opus == nil && !original.hearsOpus)
        let (first, peer) = try camera.browser("b", audio: ["opus/48000/2"])
        let (second, _) = try camera.browser("c", audio: ["opus/48000/2"])
        #expect(camera.stream.main.opus != nil && first.hearsOpus && second.hearsOpus)
        #expect(peer.configuration.sections.map { $0.codecs.first?.encodingName.lowercased() } == ["h264", "opus"])
        first.hungUp()
        #expect(camera.stream.main.opus != nil)
        camera.failure = IoTError(.sessionDescriptionInvalid)
        #expect(throws: IoTError.self) { try camera.browser("d", audio: ["opus/48000/2"]) }
        #expect(camera.stream.main.opus != nil && camera.stream.viewers["d"] == nil)
        second.end(IoTError(.stopping))
        #expect(camera.stream.main.opus == nil)
        #expect(camera.ended == ["b left", "d left", "c stopping"])
    }

    @Test("B-frames that appear later end a browser's call, and no other call")
    func reordered() throws {
        let camera = VirtualCamera()
        let (_, browser) = try camera.browser()
        let (_, gateway) = try camera.gateway()
        camera.run(pictures: 60)
        camera.take(61, at: 58 * Self.frame)
        #expect(camera.ended == ["browser codecUnsupported"] && browser.isClosed && !gateway.isClosed)
        #expect(throws: IoTError.self) { try camera.browser("late") }
    }

    private final class Text: Sendable {
        let value = Mutex<String?>(nil)
    }

    private func description(_ viewer: BrowserViewer, _ camera: VirtualCamera) -> () -> String? {
        let text = Text()
        viewer.gathered().whenComplete { result in
            text.value.withLock {
                switch result {
                case .success: $0 = "answered"
                case .failure(let error): $0 = (error as? IoTError)?.code.name
                }
            }
        }
        return {
            camera.loop.run()
            return text.value.withLock { $0 }
        }
    }

    @Test("Its answer waits at most 2 s for our candidates, and not again for servers that did not answer")
    func gathering() throws {
        let camera = VirtualCamera()
        let (viewer, peer) = try camera.browser("a")
        let first = description(viewer, camera)
        peer.happens(.localCandidate("candidate:1"))
        #expect(first() == nil)
        peer.happens(.localCandidate(""))
        #expect(first() == "answered")
        viewer.hungUp()

        let (slow, slowPeer) = try camera.browser("b")
        slowPeer.unansweredServers = ["stun:a"]
        let second = description(slow, camera)
        camera.loop.advanceTime(by: .milliseconds(1_999))
        #expect(second() == nil && camera.stream.silentServers.isEmpty)
        camera.loop.advanceTime(by: .milliseconds(1))
        #expect(second() == "answered" && camera.stream.silentServers == ["stun:a"])

        let (_, third) = try camera.browser("c")
        #expect(third.configuration.ice.serversNotAwaited == ["stun:a"])
        third.answeredServers = ["stun:a"]
        third.happens(.localCandidate("candidate:2"))
        #expect(camera.stream.silentServers.isEmpty, "a server that has answered is waited for again")

        let (gone, _) = try camera.browser("d")
        let fourth = description(gone, camera)
        gone.hungUp()
        #expect(fourth() == "hungUp")
    }
}
