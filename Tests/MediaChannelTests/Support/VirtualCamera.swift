import IoTCore
import IoTLink
import Logging
import MediaCodec
import NIOCore
import NIOEmbedded
import PeerTransport
import RTP

@testable import MediaChannel

/// A camera's stream on a loop with virtual time, with 25 pictures per second and sound, and its viewers without a
/// network.
///
/// `@unchecked Sendable`: everything is used only on the test's thread.
final class VirtualCamera: @unchecked Sendable {
    let loop = EmbeddedEventLoop()
    let stream: CameraStream
    private(set) var peers: [ScriptedPeer] = []
    /// The error of the next answer to a browser.
    var failure: IoTError?
    /// The sessions that ended, each with the name of its reason.
    private(set) var ended: [String] = []
    private let sound: AudioParameters
    private var next: Int64 = 0
    let others: OtherSources

    /// The loop's initial time: late enough that initial values do not count as recent.
    private static let start = NIODeadline.uptimeNanoseconds(10_000_000_000)
    /// µs since 1970 at that time.
    static let wall: Int64 = 1_800_000_000_000_000

    init(
        maximumViewers: Int = 8, callsRing: Bool = false, loudspeaker: (@Sendable () -> any Loudspeaker)? = nil,
        sound: AudioParameters = AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1),
        others: [Definition] = []
    ) {
        self.sound = sound
        self.others = OtherSources(others)
        let loop = loop
        loop.advanceTime(to: Self.start)
        stream = CameraStream(
            eventLoop: loop, maximumViewers: maximumViewers, callsRing: callsRing,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, loudspeaker: loudspeaker,
            sources: self.others.openers,
            wallClock: { Self.wall + (loop.now - Self.start).nanoseconds / 1_000 }
        ) {}
        stream.main.handle(
            .opened(video: VideoParameters(codec: .h264, parameterSets: [], width: 16, height: 16), audio: sound))
    }

    /// Sends pictures of 2,000 bytes and a key frame of 60,000 bytes every 50, each on time and with its sound.
    func run(pictures: Int, hasSound: Bool = true) {
        for _ in 0..<pictures {
            take(next, at: next * 40_000, hasSound: hasSound)
            next += 1
            loop.advanceTime(by: .milliseconds(40))
        }
    }

    /// Sends one picture and its sound.
    func take(_ index: Int64, at pts: Int64, isDiscontinuity: Bool = false, hasSound: Bool = false) {
        for frame in Self.frames(index, at: pts, isDiscontinuity: isDiscontinuity, hasSound: hasSound) {
            stream.main.handle(.frame(frame))
        }
    }

    /// A picture and its sound.
    static func frames(
        _ index: Int64, at pts: Int64, isDiscontinuity: Bool = false, hasSound: Bool, scale: Int = 1
    ) -> [MediaFrame] {
        let isKey = index % 50 == 0
        let size = (isKey ? 60_000 : 2_000) / scale
        var bytes = ByteBuffer()
        bytes.writeInteger(UInt32(size))
        bytes.writeInteger(UInt8(isKey ? 0x65 : 0x41))
        bytes.writeRepeatingByte(UInt8(truncatingIfNeeded: index), count: size - 1)
        let picture = MediaFrame(
            kind: .video, isKeyFrame: isKey, pts: pts, dts: pts, isDiscontinuity: isDiscontinuity, bytes: bytes)
        let sounds = (hasSound ? [0, 20_000] : []).map { part in
            MediaFrame(
                kind: .audio, isKeyFrame: true, pts: pts + part, dts: pts + part,
                bytes: ByteBuffer(repeating: 0xD5, count: 160))
        }
        return [picture] + sounds
    }

    func connection(
        _ session: String, user: String = "u/guest", isOwner: Bool = false, kind: ChannelKind = .monitor,
        actions: [CallAction] = [.view], source: ChannelSource = .main, wantsMedia: Bool = true,
        wanted: [WantedDefinition]? = nil
    ) throws -> ViewerConnection {
        guard let caller = Principal(user) else { throw IoTError(.internalFailure) }
        let grant = CallGrant(user: caller, kind: kind, actions: actions, expires: 0, isOwner: isOwner)
        let peers = ViewerPeers(hostAddresses: []) { [unowned self] configuration, onEvent in
            let peer = ScriptedPeer(configuration, loop: loop, onEvent: onEvent)
            peer.failure = failure
            self.peers.append(peer)
            return peer
        }
        let connection = ViewerConnection(
            session: session, grant: grant, stream: stream,
            choice: try stream.choose(ViewerWish(source: source, definitions: wanted)), wantsMedia: wantsMedia,
            peers: peers
        ) { [unowned self] reason in ended.append("\(session) \(reason?.code.name ?? "left")") }
        try connection.makeLive()
        return connection
    }

    /// Adds a gateway as a viewer.
    func gateway(
        _ session: String = "gateway", user: String = "u/guest", isOwner: Bool = false, kind: ChannelKind = .monitor,
        actions: [CallAction] = [.view], source: ChannelSource = .main, wantsMedia: Bool = true,
        wanted: [WantedDefinition]? = nil
    ) throws -> (viewer: GatewayViewer, peer: ScriptedPeer) {
        let viewer = GatewayViewer(
            try connection(
                session, user: user, isOwner: isOwner, kind: kind, actions: actions, source: source,
                wantsMedia: wantsMedia,
                wanted: wanted))
        try stream.add(viewer)
        let (_, continuation) = AsyncStream.makeStream(of: CallCandidate.self)
        let route = CallRoute(peer: viewer.connection.grant.user, session: session)
        _ = try viewer.makeOffer(candidates: CandidateFeed(route: route, continuation: continuation))
        return (viewer, peers[peers.count - 1])
    }

    /// Adds a browser as a viewer, with an offer of its sections' codecs.
    func browser(
        _ session: String = "browser", audio: [String] = ["PCMA/8000"]
    ) throws -> (viewer: BrowserViewer, peer: ScriptedPeer) {
        let viewer = BrowserViewer(try connection(session))
        try stream.add(viewer)
        try viewer.makeAnswer(to: try SessionDescription(parsing: Self.offer(audio: audio)))
        return (viewer, peers[peers.count - 1])
    }

    static func offer(audio: [String] = ["PCMA/8000"]) -> String {
        var lines = [
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE p s",
            "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"),
        ]
        for (medium, mid, codecs) in [("video", "p", ["H264/90000"]), ("audio", "s", audio)] {
            let types = codecs.indices.map { String(100 + $0) }
            lines += [
                "m=\(medium) 9 UDP/TLS/RTP/SAVPF \(types.joined(separator: " "))", "c=IN IP4 0.0.0.0",
                "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=setup:actpass", "a=mid:\(mid)",
                "a=recvonly", "a=rtcp-mux",
            ]
            for (type, codec) in zip(types, codecs) {
                lines.append("a=rtpmap:\(type) \(codec)")
                if codec.hasPrefix("H264") { lines.append("a=fmtp:\(type) packetization-mode=1") }
            }
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}
