import IoTCore
import IoTLink
import Logging
import MediaCodec
import MediaPlayer
import MediaTestSupport
import NIOCore
import NIOEmbedded
import RTP
import Synchronization
import TestSupport
import Testing

@testable import MediaChannel
@testable import PeerTransport

/// A whole channel in virtual time: a real clip's frames, the camera's stream, a gateway as its viewer, two peer connections
/// with DTLS and SRTP over a seeded link, the player's jitter buffer, and the shown pictures.
///
/// The handshake uses a link without loss, because OpenSSL's retransmission timer uses the real clock; the media start
/// a fixed time after it. So the same seed gives the same run: OpenSSL's random values change no packet's size or time.
final class VirtualChannel {
    struct Shown: Equatable {
        let kind: MediaKind
        let pts: Int64
        let senderTime: Int64?
        var presentAt: NIODeadline
    }

    private(set) var shown: [Shown] = []
    private(set) var statistics: PlayoutStatistics
    private(set) var releasedPictures = 0
    /// µs on the receiver's clock.
    private(set) var releasedTimes: ClosedRange<Int64>?
    private(set) var receiver: ArrivingPlayout?
    private let tracks: CallTracks
    let start: NIODeadline

    private let camera: PeerConnection
    private let viewer: PeerConnection
    private let addresses: [SocketAddress]
    private var links: [VirtualLink<ByteBuffer>]
    private var now = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private let loop = EmbeddedEventLoop()
    private let peers: VirtualPeers
    let gateway: GatewayViewer
    private let stream: CameraStream
    private let others: OtherSources
    private var frames: ArraySlice<MediaFrame>
    /// The frames of the definition `low`, which has a clock of its own.
    private var lowFrames: ArraySlice<MediaFrame>
    /// How much later the source of `low` sends the same frame.
    private static let lag = TimeAmount.milliseconds(330)
    /// Called after each picture of the main source.
    var onPicture: (() -> Void)?
    private(set) var mediaStart = NIODeadline.uptimeNanoseconds(0)
    private var receiverTimeout: NIODeadline?
    private var isConnected = [false, false]
    private var areConnected: Bool { isConnected == [true, true] }
    private let options: JitterBufferOptions

    /// - Parameters:
    ///   - frames: both kinds, in the order and at the times of a live source.
    ///   - low: the frames of the definition `low`, if the camera has it.
    ///   - link: the link in both directions, once the connection is established.
    init(
        frames: [MediaFrame], low: [MediaFrame] = [], video: VideoParameters, audio: AudioParameters,
        link: VirtualLink<ByteBuffer>.Configuration, isNACKEnabled: Bool = true,
        options: JitterBufferOptions = JitterBufferOptions()
    ) throws {
        self.frames = frames[...]
        self.options = options
        lowFrames = low[...]
        addresses = try ["192.0.2.1", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 4000) }
        links = [VirtualLink(VirtualLink.Configuration(delay: link.delay)), VirtualLink(.init(delay: link.delay))]
        start = now
        statistics = PlayoutStatistics(startedAt: now)
        let clock = VirtualWall()
        self.clock = clock
        loop.advanceTime(to: now)
        others = OtherSources(low.isEmpty ? [] : [.low])
        stream = CameraStream(
            eventLoop: loop, maximumViewers: 8, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            sources: others.openers, wallClock: { clock.microseconds }
        ) {}
        stream.main.handle(.opened(video: video, audio: audio))
        openedLow = .opened(video: video, audio: audio)
        tracks = CallTracks([
            (mid: "video", kind: .video, codec: try #require(stream.main.video).codec),
            (mid: "audio", kind: .audio, codec: try #require(stream.main.audio).codec),
        ])
        peers = VirtualPeers(loop, clock, seed: link.seed ^ 0xCA3E, isNACKEnabled: isNACKEnabled)
        let user = try #require(Principal("u/guest"))
        gateway = GatewayViewer(
            ViewerConnection(
                session: "s", grant: CallGrant(user: user, kind: .monitor, actions: [.view], expires: 0, isOwner: true),
                stream: stream, choice: try stream.definitions.choose(nil), wantsMedia: false,
                peers: ViewerPeers(hostAddresses: [addresses[0]]) { [peers] configuration, onEvent throws(IoTError) in
                    try peers.make(configuration, onEvent)
                }
            ) { _ in })
        try stream.add(gateway)
        let (_, continuation) = AsyncStream.makeStream(of: CallCandidate.self)
        let route = CallRoute(peer: user, session: "s")
        let text = try gateway.makeOffer(candidates: CandidateFeed(route: route, continuation: continuation))
        camera = try #require(peers.camera)
        var configuration = PeerConfiguration(hostAddresses: [addresses[1]], isControlling: false)
        configuration.isNACKEnabled = isNACKEnabled
        configuration.wallClock = { clock.microseconds }
        viewer = PeerConnection(
            configuration: configuration, certificate: try .generate(), now: now,
            generator: SeededGenerator(seed: link.seed ^ 0x71E7))
        let offer = try SessionDescription(parsing: text)
        try camera.setAnswer(SessionDescription(parsing: viewer.createAnswer(to: offer) { _ in true }.text))
        // Complete the handshake, however long it took: from here on nothing depends on the real clock.
        try run(for: .seconds(3))
        try #require(areConnected)
        for index in 0...1 {
            var configuration = link
            configuration.seed = link.seed &+ UInt64(index)
            links[index] = VirtualLink(configuration)
        }
    }

    private let clock: VirtualWall
    private let openedLow: CameraSourceEvent

    /// Plays all frames, including those still on their way at the end.
    func play() throws {
        receiver = ArrivingPlayout(video: tracks.description.video, options: options, now: now)
        statistics = PlayoutStatistics(startedAt: now)
        mediaStart = now
        gateway.perform(.play, at: now)
        let length = (frames.map(\.pts).max() ?? 0) - (frames.first?.pts ?? 0)
        try run(for: .microseconds(length) + .seconds(3))
    }

    private func run(for time: TimeAmount) throws {
        let end = now + time
        var steps = 0
        while now < end {
            capture()
            var next = end
            let deadlines = [
                drain(camera, 0), drain(viewer, 1), pump(), gateway.connection.feed.timeout, nextFrame, nextLowFrame,
            ]
            for deadline in deadlines {
                if let deadline { next = min(next, deadline) }
            }
            for link in links { if let arrival = link.nextArrival { next = min(next, arrival) } }
            now = max(now, next)
            clock.set(from: start, to: now)
            loop.advanceTime(to: now)
            steps += 1
            try #require(steps < 2_000_000)
            deliver()
            postpone()
            camera.handleTimeout(at: now)
            viewer.handleTimeout(at: now)
            if let receiverTimeout, receiverTimeout <= now { receiver?.handleTimeout(at: now) }
        }
    }

    private var nextFrame: NIODeadline? {
        guard receiver != nil, let frame = frames.first else { return nil }
        return mediaStart + .microseconds(frame.dts - firstTime)
    }

    private lazy var firstTime: Int64 = frames.first?.dts ?? 0

    private var nextLowFrame: NIODeadline? {
        guard receiver != nil, let frame = lowFrames.first else { return nil }
        return mediaStart + .microseconds(frame.dts - firstTime) + Self.lag
    }

    private func capture() {
        _ = firstTime
        while let due = nextFrame, due <= now, let frame = frames.popFirst() {
            stream.main.handle(.frame(frame))
            if frame.kind == .video { onPicture?() }
        }
        while let due = nextLowFrame, due <= now, var frame = lowFrames.popFirst() {
            frame.pts += 7_000_000_000
            frame.dts += 7_000_000_000
            others.send(.frame(frame), to: .low)
            loop.run()
        }
    }

    /// Changes the definition while it plays.
    func change(to definition: Definition, _ respond: @escaping ControlServer.Respond) throws {
        let isOpen = others.open[.low] != nil
        try gateway.connection.changeDefinition(["definition": .string(definition.rawValue)], respond)
        if !isOpen { others.send(openedLow, to: .low) }
        loop.run()
    }

    private func drain(_ peer: PeerConnection, _ index: Int) -> NIODeadline? {
        while let output = peer.poll() {
            switch output {
            case .timeout(let deadline): return max(deadline, now + .microseconds(1))
            case .transmit(let bytes, _): links[index].send(bytes, size: bytes.readableBytes, at: now)
            case .event(.stateChanged(.connected)):
                isConnected[index] = true
                if index == 0 { peers.onEvent?(.stateChanged(.connected)) }
            case .event(let event): index == 0 ? peers.onEvent?(event) : viewerEvent(event)
            case .network: break
            }
        }
        return nil
    }

    private func viewerEvent(_ event: PeerEvent) {
        switch tracks.output(event) {
        case .frame(let received):
            statistics.frameReceived(received.frame.kind, bytes: received.frame.bytes.readableBytes, at: now)
            receiver?.receive(received, at: now)
        case .lost(let kind): receiver?.frameLost(kind, at: now)
        case .clock(let kind, let pts, let offset): receiver?.clock(kind, pts: pts, offset: offset, at: now)
        default: break
        }
    }

    /// Shows released frames at their time, if they are not late; decoding takes no time here. If the delay grows,
    /// waiting pictures move with the line.
    private func pump() -> NIODeadline? {
        receiverTimeout = nil
        while let output = receiver?.poll() {
            switch output {
            case .release(let kind, let frame, let presentAt, let isLate):
                if kind == .video {
                    releasedPictures += 1
                    let known = releasedTimes ?? frame.pts...frame.pts
                    releasedTimes = min(known.lowerBound, frame.pts)...max(known.upperBound, frame.pts)
                }
                guard !isLate else { continue }
                let senderTime = receiver?.senderTime(kind, pts: frame.pts)
                shown.append(Shown(kind: kind, pts: frame.pts, senderTime: senderTime, presentAt: presentAt))
                statistics.framePresented(kind, senderMicroseconds: senderTime, at: max(presentAt, now))
            case .timeout(let deadline):
                receiverTimeout = max(deadline, now + .microseconds(1))
                return receiverTimeout
            default: break
            }
        }
        return nil
    }

    private func postpone() {
        guard let receiver else { return }
        for index in shown.indices.suffix(8) where shown[index].kind == .video && shown[index].presentAt > now {
            guard let moved = receiver.jitterBuffer.presentTime(ofReleasedPicture: shown[index].pts) else { continue }
            shown[index].presentAt = moved
        }
    }

    private func deliver() {
        while let datagram = links[0].receive(at: now) { viewer.receive(datagram, from: addresses[0], at: now) }
        while let datagram = links[1].receive(at: now) { camera.receive(datagram, from: addresses[1], at: now) }
    }

    var currentStatistics: ChannelStatistics {
        if let receiver { statistics.update(receiver.jitterBuffer.report) }
        return statistics.snapshot(at: now)
    }

    var lostDatagrams: Int { links[0].lostCount }
    var inbound: RTPReceiverStatistics { viewer.statistics.inbound["video"] ?? RTPReceiverStatistics() }

    var isInOrder: Bool {
        let pictures = shown.filter { $0.kind == .video }.sorted { $0.presentAt < $1.presentAt }
        return zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts }
    }

    /// The delay of each picture against the nearest sound within 40 ms, by the sender's clock; µs.
    var skews: [Int64] {
        let known = shown.filter { $0.senderTime != nil }.sorted { $0.presentAt < $1.presentAt }
        let sounds = known.filter { $0.kind == .audio }
        var next = 0
        return known.filter { $0.kind == .video }.compactMap { picture in
            while next < sounds.count, sounds[next].presentAt < picture.presentAt { next += 1 }
            let nearest = sounds[max(0, next - 1)..<min(sounds.count, next + 1)].min {
                Self.distance($0, picture) < Self.distance($1, picture)
            }
            guard let sound = nearest, Self.distance(sound, picture) <= 40_000_000 else { return nil }
            let captured = (picture.senderTime ?? 0) - (sound.senderTime ?? 0)
            return (picture.presentAt - sound.presentAt).nanoseconds / 1_000 - captured
        }
    }

    private static func distance(_ left: Shown, _ right: Shown) -> Int64 {
        abs((left.presentAt - right.presentAt).nanoseconds)
    }
}

/// The camera's wall clock, which follows virtual time.
final class VirtualWall: Sendable {
    private static let origin: Int64 = 1_800_000_000_000_000
    private let now = Atomic<Int64>(VirtualWall.origin)

    var microseconds: Int64 { now.load(ordering: .relaxed) }

    func set(from start: NIODeadline, to time: NIODeadline) {
        now.store(Self.origin + (time - start).nanoseconds / 1_000, ordering: .relaxed)
    }
}
