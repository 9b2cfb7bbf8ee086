import IoTCore
import Logging
import MediaCodec
import MediaPlayer
import MediaTestSupport
import NIOCore
import NIOPosix
import RTP
import TestSupport
import Testing

@testable import MediaChannel
@testable import PeerTransport

/// The function table of the IoT video SDK guide: each function works with each kind of channel that has it, and is refused
/// by the others.
@Suite(.timeLimit(.minutes(1))) struct FunctionTableTests {
    private typealias Function = PlayerCapabilities.Function

    private static let cases = ChannelKind.allCases.flatMap { kind in
        PlayerCapabilities.Function.allCases.map { (kind, $0) }
    }

    @Test("Each function of the guide's table works, or is refused with 21040", arguments: cases)
    func function(kind: ChannelKind, function: PlayerCapabilities.Function) async throws {
        guard PlayerCapabilities(of: kind).offers(function) else {
            let error = await #expect(throws: IoTError.self) {
                // The devices offer no player of this kind at all.
                if kind == .transmission { try PlayerCapabilities(of: kind).require(function) }
                try await use(function, kind)
            }
            #expect(error?.code == .operationNotAllowed && error?.code.rawValue == 21_040)
            return
        }
        try await use(function, kind)
    }

    private func use(_ function: Function, _ kind: ChannelKind) async throws {
        switch function {
        case .talk, .definition, .twoWayVideo: try await useCall(function, kind)
        default: try await play(function, kind)
        }
    }

    // MARK: Functions of the player

    private static let clip = Result { try SampleClip("bunny-h264-aac51.mp4", rounds: 1) }

    private func play(_ function: Function, _ kind: ChannelKind) async throws {
        let source = ClipSource(try Self.clip.get())
        let player = VirtualPlayer(source, PlayerCapabilities(of: kind))
        let core = player.core
        try core.prepare(at: player.now)
        let result = try begin(function, player)
        try player.play()
        try player.run(for: .seconds(1))
        switch function {
        case .video: #expect(player.pictures.count > 20)
        case .audio: #expect(player.sounds.count > 40)
        case .pause:
            try core.pause(at: player.now)
            #expect(core.status == .paused)
            try core.resume(at: player.now)
            try core.setRate(2, at: player.now)
            try player.run(for: .milliseconds(300))
            #expect(core.status == .playing)
        case .seek:
            try core.seek(to: source.duration / 2, at: player.now)
            try player.run(for: .milliseconds(300))
            #expect(source.seeks == [source.duration / 2] && core.status == .playing)
        case .duration: #expect(try core.duration == source.duration)
        case .position:
            let position = try #require(try core.position(at: player.now))
            #expect((900_000...1_100_000).contains(position - (source.clip.frames.first?.pts ?? 0)), "\(position)")
        case .stateChanges: #expect(player.statuses == [.preparing, .ready, .loading, .playing])
        case .mute, .scaling, .recording:
            core.stop(at: player.now)
            let body = try #require(result.body)
            let bytes = try await body.chunks.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
            check(bytes, of: function)
        case .snapshot:
            let wish = try #require(result.wish)
            let picture = try await wish.picture
            #expect(picture.bytes.readableBytesView.starts(with: [0xFF, 0xD8]))
        case .talk, .definition, .twoWayVideo: Issue.record("not a function of the player")
        }
    }

    private func begin(
        _ function: Function, _ player: VirtualPlayer
    ) throws -> (body: MediaSink?, wish: SnapshotWish?) {
        switch function {
        case .mute:
            let presentation = Presentation()
            presentation.settings.isMuted = true
            return (try player.core.addRawAudio(frames: nil, presentation: presentation), nil)
        case .scaling:
            let view = PictureView(fit: PictureFit("64x48"))
            return (try player.core.addRawVideo(frames: nil, view: view), nil)
        case .recording: return (try player.core.addRecording(frames: nil, at: player.now), nil)
        case .snapshot:
            let wish = SnapshotWish(.jpeg, on: MultiThreadedEventLoopGroup.singleton.next())
            try player.core.addSnapshot(wish)
            return (nil, wish)
        default: return (nil, nil)
        }
    }

    private func check(_ bytes: ByteBuffer, of function: Function) {
        let view = bytes.readableBytesView
        switch function {
        case .mute: #expect(view.count > 90_000 && view.dropFirst(128).allSatisfy { $0 == 0 })
        case .scaling: #expect(String(decoding: view.prefix(25), as: UTF8.self).hasPrefix("YUV4MPEG2 W64 H48 "))
        default: #expect(view.dropFirst(4).starts(with: "ftyp".utf8) && view.count > 10_000)
        }
    }

    // MARK: Functions of the call

    private func useCall(_ function: Function, _ kind: ChannelKind) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let socket = try await PeerSocket.bind(
            to: try SocketAddress(ipAddress: "127.0.0.1", port: 0), on: loop, logger: logger)
        let certificate = try PeerCertificate.generate()
        let core = NIOLoopBoundBox.makeBoxSendingValue(
            MonitorCore(kind: kind, eventLoop: loop, logger: logger) { _ in }, eventLoop: loop)
        let offer = try offer(certificate)
        let outcome = await Result {
            try await loop.submit {
                let core = core.value
                core.join("user")
                _ = try core.beginPreparing()
                _ = try core.feed.answer(
                    offer, iceServers: [], areNamedByDevice: false, socket: socket, certificate: certificate)
                core.definitions = MonitorDefinitions("high", ["high", "low"])
                // The device, which does not exist, need not answer.
                switch function {
                case .talk:
                    let speech = ScriptedSpeech()
                    _ = try core.talk.start("user", speech)
                    #expect(core.talk.talker == "user" && core.talk.isOffered && !speech.isClosed)
                case .definition: _ = try core.change(definition: "low")
                default: #expect(try core.picture.beginChange() == 1)
                }
            }.get()
        }
        try await loop.submit { core.value.stop() }.get()
        await socket.close()
        try outcome.get()
    }

    /// The offer of a camera with a loudspeaker.
    private func offer(_ certificate: PeerCertificate) throws -> SessionDescription {
        var configuration = PeerConfiguration(hostAddresses: [], isControlling: true)
        let sound = AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2)
        configuration.sections = [
            MediaSection(
                mid: "audio", kind: .audio, direction: .sendOnly, codecs: [RTPCodec(.audio(sound), payloadType: 97)]),
            TalkSection.receiving(),
        ]
        configuration.dataChannels = .call
        let peer = PeerConnection(
            configuration: configuration, certificate: certificate, now: .now(), generator: SeededGenerator(seed: 1))
        return try SessionDescription(parsing: try peer.createOffer().text)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
