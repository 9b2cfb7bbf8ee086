import IoTCore
import IoTLink
import NIOCore
import NIOEmbedded
import PeerTransport
import RTP
import Testing

@testable import MediaChannel

/// Tests a camera's definitions, and their change while a viewer plays, in virtual time.
@Suite struct DefinitionTests {
    /// A camera whose other source has its own clock and its own key frames.
    private final class Scene {
        let camera: VirtualCamera
        private(set) var results: [String] = []
        private var next: Int64 = 0
        /// The other source has a key frame at picture 30, and every 50 after it.
        var hasKeyFrames = true

        init(
            others: [Definition] = [.low],
            sound: AudioParameters = AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1)
        ) {
            camera = VirtualCamera(sound: sound, others: others)
        }

        func open(
            _ definition: Definition = .low, _ codec: VideoCodec = .h264,
            sound: AudioParameters? = AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1), depth: Int = 0
        ) {
            let video = VideoParameters(codec: codec, width: 8, height: 8, frameRate: 25, reorderDepth: depth)
            camera.others.send(.opened(video: video, audio: sound), to: definition)
            camera.loop.run()
        }

        /// Both sources send pictures on time.
        func run(_ pictures: Int, hasSound: Bool = true) {
            for _ in 0..<pictures {
                camera.take(next, at: next * 40_000, hasSound: hasSound)
                for definition in camera.others.open.keys {
                    let frames = VirtualCamera.frames(
                        hasKeyFrames ? next + 20 : 1, at: 77_000_000_000 + next * 40_000, hasSound: hasSound, scale: 4)
                    for frame in frames { camera.others.send(.frame(frame), to: definition) }
                }
                next += 1
                camera.loop.advanceTime(by: .milliseconds(40))
            }
        }

        func change(_ viewer: any CalledViewer, to wanted: String) {
            do throws(IoTError) {
                try viewer.connection.changeDefinition(["definition": .string(wanted)]) { [unowned self] result in
                    switch result {
                    case .success(let report): results.append(report["definition"]?.stringValue ?? "")
                    case .failure(let error): results.append(error.code.name)
                    }
                }
            } catch {
                results.append(error.code.name)
            }
            camera.loop.run()
        }
    }

    @Test("A browser waits until a source that announces B-frames has shown that it has none, at most three seconds")
    func announcedReordering() throws {
        for sendsPictures in [true, false] {
            let scene = Scene()
            let (stream, wish) = (scene.camera.stream, ViewerWish(definitions: [.low]))
            let rendition = try stream.choose(wish).rendition
            scene.open(depth: 2)
            // Everything runs on the test's thread.
            nonisolated(unsafe) var isKnown = false
            stream.untilOrderIsKnown(wish).whenSuccess { isKnown = true }
            if sendsPictures { scene.run(14) } else { scene.camera.loop.advanceTime(by: .milliseconds(2_900)) }
            #expect(!isKnown && rendition.isReordered)
            if sendsPictures { scene.run(1) } else { scene.camera.loop.advanceTime(by: .milliseconds(200)) }
            #expect(isKnown && rendition.isReordered != sendsPictures)
        }
        // The error of a source that fails meanwhile is the call's error.
        let scene = Scene()
        scene.open(depth: 2)
        _ = try scene.camera.stream.definitions.choose([.low])
        scene.open(depth: 2)
        let order = scene.camera.stream.untilOrderIsKnown(ViewerWish(definitions: [.low]))
        scene.camera.others.send(.failed(IoTError(.sourceNotFound), retryAfter: .seconds(1)), to: .low)
        scene.camera.loop.run()
        let error = #expect(throws: IoTError.self) { try order.wait() }
        #expect(error?.code == .sourceNotFound)
    }

    /// - Parameter overlap: How much of the same time both sources may send. Their sounds do not begin together.
    private func expectSmooth(
        _ sent: [ScriptedPeer.Sent], _ mid: String, step: Int64 = 40_000, overlap: Int64 = 0
    ) {
        let packets = sent.filter { $0.mid == mid }
        #expect(!packets.isEmpty)
        for (packet, next) in zip(packets, packets.dropFirst()) {
            let distance = next.packet.pts - packet.packet.pts
            #expect((-overlap...(step + 20_000)).contains(distance), "\(distance) at \(packet.packet.pts)")
            #expect(next.packet.sequence > packet.packet.sequence)
        }
    }

    @Test("A list of definitions has known words, of which unknown ones are skipped")
    func list() {
        #expect(
            WantedDefinition.list("low") == [.low] && WantedDefinition.list("mid,low,audio") == [.mid, .low, .audio])
        #expect(WantedDefinition.list("superHD,720p,0p,p,LOW,low") == [.height(720), .low])
        let longest = "low" + String(repeating: ",superHD", count: 31)
        #expect(WantedDefinition.list(longest) == [.low])
        for wrong in ["", "low,", "LOW", "best", "low, mid", "low,ḿ", "0720p", "100000p", longest + ",mid,high"] {
            #expect(WantedDefinition.list(wrong) == nil, "\(wrong)")
        }
    }

    @Test("A height names the definition with such a picture; sources whose heights are not known are opened for it")
    func heights() throws {
        let scene = Scene(others: [.mid, .low])
        let (camera, loop) = (scene.camera, scene.camera.loop)
        // Everything runs on the test's thread.
        nonisolated(unsafe) var ready: Result<Void, any Error>?
        func ask(_ wanted: String) {
            ready = nil
            let wish = ViewerWish(definitions: WantedDefinition.list(wanted))
            camera.stream.untilReady(wish).whenComplete { ready = $0 }
            loop.run()
        }
        func send(_ height: Int, to definition: Definition) {
            let video = VideoParameters(codec: .h264, width: 8, height: height, frameRate: 25, reorderDepth: 0)
            camera.others.send(.opened(video: video, audio: nil), to: definition)
            loop.run()
        }
        // The words before the height decide, and nothing is opened.
        ask("high,288p")
        #expect(ready != nil && camera.others.openings == 0)
        ask("best,288p,low")
        #expect(ready == nil && camera.others.openings == 2)
        send(576, to: .mid)
        #expect(ready == nil)
        send(288, to: .low)
        #expect(ready != nil)
        let definitions = camera.stream.definitions
        #expect(try definitions.choose([.height(288)]).definition == .low)
        #expect(try definitions.choose([.height(720), .height(576)]).definition == .mid)
        #expect(try definitions.choose([.height(720), .high]).definition == .high)
        #expect(throws: IoTError.self) { try definitions.choose([.height(720)]) }
        // They are known also after the sources are closed, and only the chosen one is opened again.
        loop.advanceTime(by: .seconds(30))
        #expect(camera.others.open.isEmpty)
        ask("576p")
        #expect(Array(camera.others.open.keys) == [.mid] && ready == nil)
        send(576, to: .mid)
        #expect(ready != nil)
    }

    @Test("A change to a height waits until it is known; another change does not wait for it")
    func changeToHeight() throws {
        let scene = Scene(others: [.mid, .low])
        let (viewer, peer) = try scene.camera.gateway()
        peer.happens(.stateChanged(.connected))
        scene.run(5)
        scene.change(viewer, to: "288p")
        scene.change(viewer, to: "8p,576p")
        #expect(scene.results == ["hungUp"] || scene.results == ["hungUp", "high"])
        scene.change(viewer, to: "288p")
        scene.change(viewer, to: "audio")
        #expect(scene.results.suffix(2) == ["hungUp", "audio"])
        scene.change(viewer, to: "288p,high")
        scene.camera.others.send(.failed(IoTError(.sourceUnreachable), retryAfter: .seconds(1)), to: .mid)
        scene.camera.others.send(.failed(IoTError(.sourceUnreachable), retryAfter: .seconds(1)), to: .low)
        scene.camera.loop.run()
        #expect(scene.results.last == "high")
        scene.change(viewer, to: "288p")
        #expect(scene.results.last == "definitionUnavailable" && viewer.connection.definition == .high)
    }

    @Test("The first definition that the camera has is used; its source is open while somebody uses it, and 10 s more")
    func onDemand() throws {
        let scene = Scene()
        let (definitions, loop) = (scene.camera.stream.definitions, scene.camera.loop)
        #expect(definitions.all == [.high, .low, .audio])
        #expect(try definitions.choose(nil).rendition === definitions.main)
        #expect(try definitions.choose([.audio]).rendition === definitions.main)
        let refused = try #require(throws: IoTError.self) { try definitions.choose([.mid]) }
        #expect(refused.code == .definitionUnavailable && refused.remedy == "choose one of: high, low, audio")
        #expect(scene.camera.others.openings == 0)

        let choice = try definitions.choose([.mid, .low, .high])
        #expect(choice.definition == .low && choice.rendition !== definitions.main && scene.camera.others.openings == 1)
        #expect(try definitions.choose([.low]).rendition === choice.rendition)
        loop.advanceTime(by: .seconds(9))
        #expect(scene.camera.others.open.count == 1)
        loop.advanceTime(by: .seconds(6))
        #expect(scene.camera.others.open.isEmpty)

        let (viewer, _) = try scene.camera.gateway(wanted: [.low])
        #expect(scene.camera.others.openings == 2 && viewer.connection.definition == .low)
        loop.advanceTime(by: .seconds(60))
        #expect(scene.camera.others.open.count == 1)
        viewer.hungUp()
        loop.advanceTime(by: .seconds(14))
        #expect(scene.camera.others.open.isEmpty)
        _ = try definitions.choose([.low])
        scene.camera.stream.close()
        #expect(scene.camera.others.open.isEmpty)
        #expect(throws: IoTError.self) { try definitions.choose([.low]) }
    }

    @Test("A change takes effect at the other source's next key frame: nothing is missing, and nothing comes twice")
    func gateway() throws {
        let scene = Scene()
        let (viewer, peer) = try scene.camera.gateway()
        peer.happens(.stateChanged(.connected))
        scene.run(10)
        scene.change(viewer, to: "low")
        scene.open()
        scene.run(20)
        #expect(scene.results.isEmpty && viewer.connection.definition == .high)
        #expect(peer.take().filter { $0.mid == "video" }.last?.packet.pts == Int64(29 * 40_000))
        scene.run(1)
        #expect(scene.results == ["low"])
        // The main picture that came at the same time was sent before.
        let first = try #require(peer.take().first { $0.packet.isKeyFrameStart && $0.mid == "video" })
        #expect(first.packet.pts == Int64(30 * 40_000 + 10_000))
        scene.run(5)
        scene.change(viewer, to: "high")
        scene.run(30)
        #expect(scene.results == ["low", "high"])
        let anchor = try #require(peer.mediaClockAnchor)
        #expect((0...20_000).contains(anchor.pts - (anchor.wallClock - VirtualCamera.wall)), "\(anchor)")

        let again = Scene()
        let (other, all) = try again.camera.gateway()
        all.happens(.stateChanged(.connected))
        again.run(10)
        for wanted in ["low", "high", "low", "high"] {
            again.change(other, to: wanted)
            again.open()
            again.run(60)
        }
        #expect(again.results == ["low", "high", "low", "high"])
        let sent = all.take()
        expectSmooth(sent, "video")
        expectSmooth(sent, "audio", step: 20_000, overlap: 30_000)
    }

    @Test("A browser's stream continues over a change, and lost packets from before it are sent again as they were")
    func browser() throws {
        let scene = Scene()
        let (viewer, peer) = try scene.camera.browser()
        peer.happens(.stateChanged(.connected))
        scene.run(10)
        scene.change(viewer, to: "low")
        scene.open()
        scene.run(40)
        #expect(scene.results == ["low"])
        let sent = peer.take()
        expectSmooth(sent, "p")
        expectSmooth(sent, "s", step: 20_000, overlap: 30_000)
        let pictures = sent.filter { $0.mid == "p" }.map(\.packet)
        let change = try #require(zip(pictures, pictures.dropFirst()).first { $0.sequence + 1 != $1.sequence })
        peer.happens(.retransmissionRequested(mid: "p", [change.0.sequence, change.1.sequence]))
        #expect(peer.resent.map(\.sequence) == [change.0.sequence, change.1.sequence])
        #expect(peer.resent.map(\.timestamp) == [change.0.timestamp, change.1.timestamp])
        #expect(peer.resent.map(\.payload) == [change.0.payload, change.1.payload])

        // The key frame of the present source is repaired; packets of the earlier one do not matter any more.
        scene.camera.loop.advanceTime(by: .seconds(4))
        peer.lacking = [change.0.sequence, change.1.sequence]
        peer.happens(.keyFrameRequested(mid: "p"))
        #expect(peer.repaired == [[change.1.sequence]])
    }

    @Test("`audio` ends the pictures at once and keeps the sound; then the newest picture comes without a wait")
    func soundOnly() throws {
        let scene = Scene()
        let (viewer, peer) = try scene.camera.gateway()
        peer.happens(.stateChanged(.connected))
        scene.run(10)
        scene.change(viewer, to: "audio")
        #expect(scene.results == ["audio"])
        _ = peer.take()
        scene.run(10)
        let sound = peer.take()
        #expect(sound.count == 20 && sound.allSatisfy { $0.mid == "audio" })
        scene.change(viewer, to: "high")
        #expect(scene.results == ["audio", "high"])
        scene.run(1)
        #expect(peer.take().first { $0.mid == "video" }?.packet.isKeyFrameStart == true)
        let (_, second) = try scene.camera.gateway("second", wanted: [.audio])
        second.happens(.stateChanged(.connected))
        scene.run(5)
        #expect(Set(second.take().map(\.mid)) == ["audio"])
    }

    @Test("A definition with another picture format is refused; with another sound format it comes without sound")
    func formats() throws {
        let scene = Scene(others: [.mid, .low])
        let (viewer, peer) = try scene.camera.gateway()
        peer.happens(.stateChanged(.connected))
        scene.run(5)
        scene.change(viewer, to: "low")
        scene.open(.low, .h265)
        scene.run(60)
        #expect(scene.results == ["operationNotAllowed"] && viewer.connection.definition == .high)
        scene.change(viewer, to: "mid")
        scene.open(.mid, sound: AudioParameters(codec: .aac, sampleRate: 48_000, channels: 2))
        scene.run(50)
        #expect(scene.results.last == "mid")
        _ = peer.take()
        scene.run(10, hasSound: false)
        #expect(Set(peer.take().map(\.mid)) == ["video"])
        // The sound alone comes from the main source then.
        scene.change(viewer, to: "audio")
        scene.run(10)
        #expect(scene.results.last == "audio" && Set(peer.take().map(\.mid)) == ["audio"])
        scene.change(viewer, to: "high")
        scene.run(60)
        #expect(Set(peer.take().map(\.mid)) == ["video", "audio"])
        // A call that began with that sound cannot get the main source's.
        let (other, _) = try scene.camera.gateway("other", wanted: [.mid])
        scene.change(other, to: "high")
        scene.run(60)
        #expect(scene.results.last == "high" && !other.connection.run.hasSound)
        scene.change(other, to: "audio")
        #expect(scene.results.last == "operationNotAllowed" && other.connection.definition == .high)
    }

    @Test("From `audio` to a source that is not open the stream waits for its key frame, and its times continue")
    func fromSoundToClosedSource() throws {
        let scene = Scene()
        let (viewer, peer) = try scene.camera.gateway(wanted: [.audio])
        peer.happens(.stateChanged(.connected))
        scene.run(10)
        scene.change(viewer, to: "low")
        scene.open()
        #expect(scene.results.isEmpty)
        scene.run(25)
        #expect(scene.results == ["low"])
        let sent = peer.take()
        #expect(sent.first { $0.mid == "video" }?.packet.isKeyFrameStart == true)
        expectSmooth(sent, "audio", step: 20_000, overlap: 30_000)
        expectSmooth(sent, "video")
        // Also where nothing is sent meanwhile.
        viewer.perform(.stop, at: scene.camera.loop.now)
        scene.change(viewer, to: "high")
        #expect(scene.results.last == "high")
        viewer.perform(.play, at: scene.camera.loop.now)
        scene.run(1)
        let next = try #require(peer.take().last { $0.mid == "video" })
        #expect((30...50).contains(next.packet.pts / 40_000), "\(next.packet.pts)")
    }

    @Test("A source that refuses the login stays, because its pauses protect the account; others are closed")
    func refusedLogin() throws {
        let scene = Scene(others: [.mid, .low])
        for (definition, code) in [(Definition.low, ErrorCode.sourceRefused), (.mid, .sourceUnreachable)] {
            _ = try scene.camera.stream.definitions.choose([.named(definition)])
            scene.camera.others.send(.failed(IoTError(code), retryAfter: .seconds(120)), to: definition)
        }
        scene.camera.loop.advanceTime(by: .seconds(60))
        #expect(Array(scene.camera.others.open.keys) == [.low])
    }

    @Test("Without a key frame the change fails after 15 s, and a newer change replaces it; the picture continues")
    func failures() throws {
        let scene = Scene(others: [.mid, .low])
        scene.hasKeyFrames = false
        let (viewer, peer) = try scene.camera.gateway()
        peer.happens(.stateChanged(.connected))
        scene.change(viewer, to: "best")
        scene.change(viewer, to: "mid")
        scene.change(viewer, to: "low")
        scene.open()
        #expect(scene.results == ["invalidParameter", "hungUp"])
        scene.run(374)
        #expect(scene.results.count == 2)
        scene.run(2)
        #expect(scene.results.last == "messageTimeout" && viewer.connection.definition == .high)
        #expect(peer.take().last?.time == scene.camera.loop.now - .milliseconds(40))
        scene.change(viewer, to: "mid")
        scene.camera.others.send(.failed(IoTError(.sourceUnreachable), retryAfter: .seconds(1)), to: .mid)
        scene.camera.loop.run()
        #expect(scene.results.last == "sourceUnreachable")
        scene.change(viewer, to: "low")
        viewer.hungUp()
        #expect(scene.results.last == "hungUp" && scene.results.count == 5)
    }
}
