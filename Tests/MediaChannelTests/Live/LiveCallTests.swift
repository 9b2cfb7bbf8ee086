import IoTCore
import IoTLink
import MediaPlayer
import MediaTestSupport
import NIOCore
import NIOEmbedded
import RTP
import Testing

@testable import MediaChannel
@testable import PeerTransport

/// Live calls at the called camera, in virtual time.
@Suite struct LiveCallTests {
    private static let session = "caller"
    private let camera = VirtualCamera()
    private let clip: SampleClip

    init() throws { clip = try SampleClip("street-h264-aac.mp4", rounds: 1) }

    private func call(_ session: String = session, user: String = "u/guest") throws -> ScriptedPeer {
        try camera.gateway(session, user: user, kind: .live, actions: [.view, .talk]).peer
    }

    private func connect(_ peer: ScriptedPeer, video: VideoCodec? = .h264) {
        if let video {
            peer.receiving[CallerSection.mid] = RTPCodec(
                .video(VideoParameters(codec: video, parameterSets: [])), payloadType: 102)
        }
        peer.happens(.stateChanged(.connected))
    }

    private var pictures: [MediaFrame] { clip.frames.filter { $0.kind == .video } }

    /// The caller sends these frames, each at its time.
    private func send(
        _ frames: some Sequence<MediaFrame>, _ mid: String = CallerSection.mid, through peer: ScriptedPeer
    ) {
        for frame in frames {
            peer.happens(
                .frame(
                    mid: mid,
                    ReceivedFrame(
                        frame: frame, rtpTimestamp: 0, firstArrival: camera.loop.now, lastArrival: camera.loop.now)))
            camera.loop.advanceTime(by: .milliseconds(100))
        }
    }

    private var wish: ViewerWish { ViewerWish(source: LiveCall.source) }

    @Test("The offer has sections for the caller's picture and sound, also without a loudspeaker")
    func offer() throws {
        let sections = try call().configuration.sections
        #expect(sections.map(\.mid) == ["video", "audio", "caller", "talk"])
        #expect(sections[2].direction == .receiveOnly && sections[2].codecs.compactMap(\.videoCodec) == [.h264, .h265])
        let viewer = try camera.gateway("viewer", actions: [.view, .talk]).peer
        #expect(viewer.configuration.sections.map(\.mid) == ["video", "audio"])
    }

    @Test("The owner gets the caller's pictures from the first key frame on; then the end of the call ends the channel")
    func watch() throws {
        #expect(throws: IoTError.self) { try camera.stream.choose(wish) }
        let peer = try call()
        #expect(throws: IoTError.self) { try camera.stream.choose(wish) }
        connect(peer)
        let frames = pictures
        let key = try #require(frames.indices.dropFirst().first { frames[$0].isKeyFrame })
        send(frames[1..<key], through: peer)
        let rendition = try camera.stream.choose(wish).rendition
        #expect(rendition.video?.endSequence == 0 && peer.keyFrameRequests == key - 1)
        send(frames[key..<(key + 5)], through: peer)
        #expect(rendition.videoParameters?.width == 768)
        #expect(rendition.audio?.codec.format == .opus)
        let (_, owner) = try camera.gateway("owner", user: "u/owner", source: LiveCall.source)
        owner.happens(.stateChanged(.connected))
        #expect(peer.keyFrameRequests == key, "for the new viewer")
        camera.loop.advanceTime(by: .milliseconds(10))
        #expect(Set(owner.take().filter(\.packet.marker).map(\.packet.pts)).count == 5)
        send(frames[(key + 5)..<(key + 7)], through: peer)
        #expect(Set(owner.take().filter(\.packet.marker).map(\.packet.pts)).count == 2)
        peer.happens(.stateChanged(.closed))
        #expect(camera.ended == ["owner hungUp", "caller left"] && camera.stream.live == nil)
        #expect(throws: IoTError.self) { try camera.stream.choose(wish) }
    }

    @Test("After a lost picture nothing is forwarded before the next key frame, for which the caller is asked")
    func loss() throws {
        let peer = try call()
        connect(peer)
        let frames = pictures
        send(frames[0..<3], through: peer)
        let rendition = try camera.stream.choose(wish).rendition
        let before = try #require(rendition.video).endSequence
        peer.happens(.frameLost(mid: CallerSection.mid))
        #expect(peer.keyFrameRequests == 1)
        send(frames[4..<6], through: peer)
        #expect(rendition.video?.endSequence == before)
        send([frames[0]], through: peer)
        #expect(rendition.video?.endSequence ?? 0 > before)
    }

    /// The caller begins to talk, over the control channel.
    private func talk(_ peer: ScriptedPeer) {
        let id = DataChannelID(value: 3)
        peer.happens(
            .dataChannelOpened(
                DataChannel(
                    id: id, label: "iotlink.control", subprotocol: "", options: DataChannelOptions(), isRemote: true,
                    state: .open)))
        peer.happens(.dataChannelMessage(id, .text(#"{"jsonrpc":"2.0","id":1,"method":"talk.start","params":{}}"#)))
    }

    @Test("A caller without a picture is heard when it has begun to talk, also while it may show one later")
    func sound() throws {
        for video in [nil, VideoCodec.h264] {
            let peer = try call("caller \(video.map { "\($0)" } ?? "-")")
            connect(peer, video: video)
            let opus = MediaFrame(
                kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]))
            send([opus], TalkSection.mid, through: peer)
            let rendition = try camera.stream.choose(wish).rendition
            #expect(rendition.audio?.endSequence == 0)
            talk(peer)
            #expect(peer.texts.last?.contains(#""talkers":1"#) == true)
            send([opus, opus], TalkSection.mid, through: peer)
            #expect((rendition.video == nil) == (video == nil) && rendition.audio?.endSequence == 2)
            peer.happens(.stateChanged(.closed))
        }
    }

    @Test("One caller is in a live call; a call that is not connected keeps nobody out; the owner ends that of others")
    func turns() throws {
        let silent = try call("silent", user: "u/guest")
        let peer = try call("second", user: "u/other")
        connect(peer)
        let busy = #expect(throws: IoTError.self) { try call("third", user: "u/third") }
        #expect(busy?.code == .calleeBusy && camera.stream.viewers.count == 2)
        connect(silent)
        #expect(camera.ended == ["silent calleeBusy"] && camera.stream.live?.session == "second")
        let owner = try camera.gateway("owner", user: "u/owner", isOwner: true, kind: .live, actions: [.view, .talk])
            .peer
        #expect(camera.stream.live?.session == "second")
        connect(owner)
        #expect(camera.ended.last == "second calleeBusy" && camera.stream.live?.session == "owner")
        // Frames of a section that a viewer of another kind has not are ignored.
        let viewer = try camera.gateway("viewer").peer
        connect(viewer)
        send(pictures.prefix(2), through: viewer)
        #expect(camera.stream.live?.rendition.video?.endSequence == 0)
    }

    @Test("The pictures of ten seconds may come at once; of a caller that sends more, some wait for the next key frame")
    func rate() throws {
        let peer = try call()
        connect(peer)
        let key = MediaFrame(
            kind: .video, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [0, 0, 0, 2, 0x65, 0x88]))
        let frame = ReceivedFrame(
            frame: key, rtpTimestamp: 0, firstArrival: camera.loop.now, lastArrival: camera.loop.now)
        let rendition = try camera.stream.choose(wish).rendition
        let first = try #require(rendition.video).endSequence
        for _ in 0..<2_000 { peer.happens(.frame(mid: CallerSection.mid, frame)) }
        let before = try #require(rendition.video).endSequence
        #expect(before - first == 1_200)
        camera.loop.advanceTime(by: .seconds(1))
        send(pictures[1..<3], through: peer)
        #expect(rendition.video?.endSequence == before)
        send([key], through: peer)
        #expect(rendition.video?.endSequence ?? 0 > before)
    }

    @Test("The caller has only the definition high")
    func definitions() throws {
        connect(try call())
        let error = #expect(throws: IoTError.self) {
            try camera.stream.choose(ViewerWish(source: LiveCall.source, definitions: [.audio, .low]))
        }
        #expect(error?.code == .definitionUnavailable)
        #expect(
            try camera.stream.choose(ViewerWish(source: LiveCall.source, definitions: [.low, .high])).definition
                == .high)
    }

    @Test("Events tell when a call begins and ends, and who calls")
    func events() throws {
        var events = LiveCallEvents()
        let (bob, eve) = (try #require(Principal("u/bob")), try #require(Principal("u/eve")))
        let told = [nil, bob, bob, eve, nil, nil].map { caller in
            events.events(for: caller).map {
                "\($0.body["user"]?.stringValue ?? "") \($0.body["state"]?.stringValue ?? "")"
            }
        }
        #expect(told == [[], ["bob began"], [], ["bob ended", "eve began"], ["eve ended"], []])
    }
}
