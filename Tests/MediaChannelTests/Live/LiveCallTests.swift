import IoTCore
import IoTLink
import MediaCodec
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
    private let camera: VirtualCamera
    private let clip: SampleClip

    init() throws { try self.init(callsRing: false) }

    private init(callsRing: Bool) throws {
        let loudspeaker: @Sendable () -> any Loudspeaker = { UnusedLoudspeaker() }
        camera = VirtualCamera(callsRing: callsRing, loudspeaker: callsRing ? loudspeaker : nil)
        clip = try SampleClip("street-h264-aac.mp4", rounds: 1)
    }

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

    private var wish: ViewerWish { ViewerWish(source: .caller) }

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
        let (_, owner) = try camera.gateway("owner", user: "u/owner", source: .caller)
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
        #expect(peer.keyFrameRequests == 0, "the receiver asks, if no key frame has begun")
        send(frames[4..<6], through: peer)
        #expect(rendition.video?.endSequence == before && peer.keyFrameRequests == 2)
        send([frames[0]], through: peer)
        #expect(rendition.video?.endSequence ?? 0 > before && peer.keyFrameRequests == 2)
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
        var taken = 0
        let tap = rendition.taps.add { _ in taken += 1 }
        for _ in 0..<2_000 { peer.happens(.frame(mid: CallerSection.mid, frame)) }
        rendition.taps.remove(tap)
        #expect(taken == 1_200)
        let before = try #require(rendition.video).endSequence
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
            try camera.stream.choose(ViewerWish(source: .caller, definitions: [.audio, .low]))
        }
        #expect(error?.code == .definitionUnavailable)
        #expect(
            try camera.stream.choose(ViewerWish(source: .caller, definitions: [.low, .high])).definition
                == .high)
    }

    @Test("Events tell when a call rings, begins and ends, and who calls")
    func events() throws {
        var events = LiveCallEvents()
        func call(_ user: String, isRinging: Bool = false) throws -> CameraSnapshot.Call {
            CameraSnapshot.Call(id: user, user: try #require(Principal("u/\(user)")), isRinging: isRinging)
        }
        let (bob, eve) = (try call("bob"), try call("eve"))
        let ringing = try call("eve", isRinging: true)
        let told = [nil, bob, bob, ringing, eve, nil, ringing, nil].map { call in
            events.events(for: call).map {
                "\($0.body["user"]?.stringValue ?? "") \($0.body["state"]?.stringValue ?? "")"
            }
        }
        #expect(
            told == [
                [], ["bob began"], [], ["bob ended", "eve ringing"], ["eve began"], ["eve ended"], ["eve ringing"],
                ["eve ended"],
            ])
    }

    // MARK: Ringing

    @Test("Until a call is accepted, its caller gets nothing; the owner sees the caller; others are refused")
    func ringing() throws {
        let test = try LiveCallTests(callsRing: true)
        let camera = test.camera
        let (viewer, peer) = try camera.gateway("caller", kind: .live, actions: [.view, .talk])
        #expect(throws: IoTError.self) { try camera.stream.acceptCall(nil) }
        test.connect(peer)
        camera.run(pictures: 60)
        viewer.perform(.play, at: camera.loop.now)
        #expect(peer.take().isEmpty && camera.stream.live?.isRinging == true)
        test.send(test.pictures.prefix(3), through: peer)
        #expect(try camera.stream.choose(test.wish).rendition.video?.endSequence ?? 0 > 0)
        let busy = #expect(throws: IoTError.self) { try test.call("second", user: "u/other") }
        #expect(busy?.code == .calleeBusy)
        let other = #expect(throws: IoTError.self) { try camera.stream.acceptCall("second") }
        #expect(other?.code == .callTargetNotFound && camera.stream.live?.isRinging == true)
        try camera.stream.acceptCall("caller")
        camera.run(pictures: 60)
        #expect(!peer.take().isEmpty && camera.stream.live?.isRinging == false)
        // It has been answered.
        #expect(throws: IoTError.self) { try camera.stream.refuseCall("caller") }
        camera.loop.advanceTime(by: LiveCall.ringingTime)
        #expect(camera.ended.isEmpty)
    }

    @Test("A refused call ends with 20002, one that nobody answers within 30 s with 20001; then the camera is free")
    func refused() throws {
        let test = try LiveCallTests(callsRing: true)
        let camera = test.camera
        test.connect(try test.call("first"))
        try camera.stream.refuseCall(nil)
        #expect(camera.ended == ["first hungUp"] && camera.stream.live == nil)
        test.connect(try test.call("second"))
        camera.loop.advanceTime(by: LiveCall.ringingTime - .milliseconds(1))
        #expect(camera.stream.live?.session == "second")
        camera.loop.advanceTime(by: .milliseconds(1))
        #expect(camera.ended == ["first hungUp", "second peerTimeout"] && camera.stream.live == nil)
        // After a caller has hung up, its timer does not end the next call.
        let third = try test.call("third")
        test.connect(third)
        third.happens(.stateChanged(.closed))
        test.connect(try test.call("fourth"))
        camera.loop.advanceTime(by: LiveCall.ringingTime - .milliseconds(1))
        #expect(camera.stream.live?.session == "fourth")
    }

    @Test("The calls of an account that does not own the camera ring a bounded number of times without being accepted")
    func ringLimit() throws {
        let test = try LiveCallTests(callsRing: true)
        let camera = test.camera
        func ring(_ session: String) throws {
            test.connect(try test.call(session, user: "u/other"))
            #expect(camera.stream.live?.session == session)
        }
        for number in 0..<(RingLimit.calls - 1) {
            try ring("\(number)")
            try camera.stream.refuseCall(nil)
        }
        // An accepted call gives back all of them.
        try ring("accepted")
        try camera.stream.acceptCall(nil)
        camera.stream.called("accepted")?.hungUp()
        for number in 10..<(10 + RingLimit.calls) {
            try ring("\(number)")
            try camera.stream.refuseCall(nil)
        }
        let refused = #expect(throws: IoTError.self) { try test.call("more", user: "u/other") }
        #expect(
            refused?.code == .tooManyRequests && refused?.remedy.contains("600 s") == true, "\(refused?.remedy ?? "")")
        #expect(camera.stream.live == nil)
        camera.loop.advanceTime(by: RingLimit.time)
        try ring("later")
    }

    @Test("An account without a call that rang is refused while too many others had one; none loses its place")
    func ringingAccounts() throws {
        var limit = RingLimit()
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        let others = try (0..<RingLimit.accounts).map { try #require(Principal("u/a\($0)")) }
        for other in others { try limit.begin(other, at: now) }
        let bob = try #require(Principal("u/bob"))
        let refused = #expect(throws: IoTError.self) { try limit.begin(bob, at: now) }
        #expect(refused?.code == .tooManyRequests)
        try limit.begin(others[0], at: now)
        try limit.begin(bob, at: now + RingLimit.time)
    }

    @Test("What a caller says while it rings comes out of the loudspeaker only after it was accepted")
    func ringingTalk() throws {
        let test = try LiveCallTests(callsRing: true)
        let camera = test.camera
        let peer = try test.call()
        test.connect(peer)
        test.talk(peer)
        #expect(peer.texts.last?.contains(#""talkers":1"#) == true && camera.stream.talk.talkers == 0)
        try camera.stream.acceptCall(nil)
        #expect(camera.stream.talk.talkers == 1)
    }
}

/// A loudspeaker through which nobody says a word.
private final class UnusedLoudspeaker: Loudspeaker {
    let failure: IoTError? = nil
    func open() async throws(IoTError) {}
    func play(_ samples: [Int16]) {}
    func close() async {}
}
