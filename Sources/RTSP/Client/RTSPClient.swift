package import IoTCore
package import NIOCore
import RTP

/// One session with a camera (RFC 2326): DESCRIBE, SETUP of a video and an audio track, PLAY, and the frames; or SETUP
/// of the back channel, PLAY, and sound to the camera.
///
/// Owns no socket, clock or task. After each call, drain `poll()`. A client that has failed or ended cannot be started
/// again: the caller decides when to make another one.
package struct RTSPClient: Sendable {
    package enum Output: Sendable {
        /// Connect to the server. Close an earlier connection first, and discard its later bytes.
        case connect(ServiceURL)
        case send(ByteBuffer)
        /// Like `send`, but drop it while the connection does not accept bytes: late sound is of no use.
        case packet(ByteBuffer)
        /// Open two UDP ports with consecutive numbers for a track, then call `portsOpened`.
        case openPorts(track: Int)
        /// Send to the server's UDP port for a track's RTP or RTCP.
        case datagram(ByteBuffer, track: Int, isControl: Bool, port: UInt16)
        /// The tracks are known, and playing has begun.
        case opened(video: VideoParameters?, audio: CameraSound?, unsupported: [String])
        case frame(MediaFrame)
        /// The camera accepts sound in this format, with `send(sound:)`.
        case backChannelOpened(BackChannelFormat, BackChannelProfile)
        /// Wait until then, or for the next input.
        case timeout(NIODeadline)
        /// The session has ended. Close everything.
        case failed(IoTError)
    }

    enum State: Sendable, Hashable {
        case idle, connecting, describing, settingUp(Int), openingPorts(Int), starting, playing, ended
    }

    struct Pending: Sendable {
        var request: RTSPRequest
        var cseq: UInt32
        var wasAuthorized: Bool
    }

    let configuration: RTSPClientConfiguration
    private let random: @Sendable () -> UInt64
    var state = State.idle
    var url: ServiceURL
    var transport: RTSPTransport
    var authentication: RequestAuthentication
    private var nextCSeq: UInt32 = 1
    var pending: Pending?
    private var redirects = 0
    /// Whether the transport was changed, which happens once.
    var hasChangedTransport = false

    var session: SessionHeader?
    var aggregate = ""
    var unsupported: [String] = []
    var tracks: [ClientTrack] = []
    /// The only track of a session with this purpose.
    var backChannel: BackChannelTrack?
    /// For each interleaved channel, its track, and whether it carries RTCP.
    var channels: [UInt8: (track: Int, isControl: Bool)] = [:]
    var serverPorts: [Int: TransportHeader.Pair<UInt16>] = [:]

    let epoch: NIODeadline
    /// µs since 1970 at `epoch`.
    let wallClockAtStart: Int64
    var openDeadline: NIODeadline
    var firstDatagramDeadline: NIODeadline?
    /// Set when the camera has ended all tracks.
    var endDeadline: NIODeadline?
    /// When the last frame came; before the first one, the last packet.
    var lastMedia: NIODeadline
    /// Until the first frame of the video, or of the audio if there is no video.
    var firstFrameDeadline: NIODeadline?
    var nextKeepAlive = NIODeadline.distantFuture
    var keepAliveMethod = RTSPMethod.options
    var isSynchronized = false
    var outputs = CircularBuffer<Output>()

    /// The largest number of redirections of one session.
    static let maximumRedirects = 5

    /// - Parameters:
    ///   - wallClock: µs since 1970 at `now`, for sender reports.
    ///   - random: Returns random numbers, for nonces and identifiers.
    package init(
        _ configuration: RTSPClientConfiguration, at now: NIODeadline,
        wallClock: Int64 = WallClock.microseconds(),
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.configuration = configuration
        self.random = random
        url = configuration.url
        transport = configuration.transport
        authentication = RequestAuthentication(configuration.credentials)
        epoch = now
        wallClockAtStart = wallClock
        openDeadline = now + configuration.openTimeout
        lastMedia = now
    }

    package var isEnded: Bool { state == .ended }

    /// Whether the last `.connect` has not been answered with `connected` or `disconnected`.
    package var isWaitingForConnection: Bool { state == .connecting }

    /// The number of lost packets of all tracks.
    package var packetsLost: Int64 { tracks.reduce(0) { $0 + $1.receiver.statistics.packetsLost } }

    /// The time of the camera's clock, in µs since 1970, at a time of the client's clock; `nil` before a sender report.
    package func cameraTime(at time: Int64) -> Int64? {
        tracks.lazy.compactMap(\.wallClockOffset).first.map { $0 &+ time }
    }

    /// Whether `poll()` returns more than a time-out.
    var hasOutputs: Bool { !outputs.isEmpty }

    package mutating func poll() -> Output? {
        if let output = outputs.popFirst() { return output }
        guard state != .ended, state != .idle else { return nil }
        return .timeout(deadline)
    }

    package mutating func start() {
        guard state == .idle else { return }
        connect()
    }

    private mutating func connect() {
        if url.scheme == "rtsps" { transport = .tcp }
        state = .connecting
        outputs.append(.connect(url))
    }

    package mutating func connected(at now: NIODeadline) {
        guard state == .connecting else { return }
        describe()
    }

    /// Call this when the connection was closed or could not be made.
    package mutating func disconnected(_ error: IoTError?) {
        fail(error ?? IoTError(.sourceUnreachable, "the camera closed the connection"))
    }

    /// Call this for each message of the connection.
    package mutating func receive(_ message: RTSPMessage, at now: NIODeadline) {
        guard state != .ended else { return }
        switch message {
        case .response(let response): receive(response, at: now)
        case .request(let request): answer(request)
        case .frame(let frame):
            // Quirk 12: Reolink sends data on channels without SETUP (scottlamb/retina,
            // `UnassignedChannelDataPolicy`). They are ignored.
            guard let (track, isControl) = channels[frame.channel] else { return }
            receive(frame.payload, track: track, isControl: isControl, at: now)
        }
    }

    /// Call this if the connection's bytes are not RTSP.
    package mutating func receive(_ error: RTSPParseError) {
        fail(
            IoTError(
                .sourceUnsupported, "the server is not an RTSP camera, or is broken: \(error)",
                remedy: "check the host and the port in the URL"))
    }

    package mutating func portsOpened(track: Int, rtp: UInt16) {
        guard state == .openingPorts(track) else { return }
        setUp(track, TransportHeader(.udp, clientPorts: .init(rtp, rtp &+ 1)))
    }

    /// Ends the session: sends TEARDOWN without waiting for the response.
    package mutating func stop() {
        if session != nil, state != .ended { send(request(.teardown, aggregate)) }
        state = .ended
        tracks = []
        backChannel = nil
    }

    mutating func fail(_ error: IoTError) {
        guard state != .ended else { return }
        state = .ended
        outputs.append(.failed(error))
    }

    // MARK: Requests

    func request(_ method: RTSPMethod, _ uri: String, _ headers: KeyValuePairs<String, String> = [:]) -> RTSPRequest {
        RTSPRequest(method, uri, headers: RTSPHeaders(headers))
    }

    mutating func send(_ request: RTSPRequest) {
        var request = request
        let cseq = nextCSeq
        nextCSeq &+= 1
        request.headers.cseq = cseq
        request.headers[RTSPHeaderName.userAgent] = RTSPClientConfiguration.userAgent
        if let session { request.headers[RTSPHeaderName.session] = session.identifier }
        if configuration.purpose == .backChannel, request.method != .options {
            // Quirk 17: ONVIF's test specification requires it in every request of the session (koush/scrypted#520).
            request.headers[RTSPHeaderName.require] = RTSPOption.backChannel
        }
        let authorization = authentication.authorization(
            method: request.method, uri: request.uri, clientNonce: nonce())
        request.headers[RTSPHeaderName.authorization] = authorization
        pending = Pending(request: request, cseq: cseq, wasAuthorized: authorization != nil)
        var buffer = ByteBuffer()
        request.write(into: &buffer)
        outputs.append(.send(buffer))
    }

    func randomNumber() -> UInt64 { random() }

    private func nonce() -> String {
        Hex.encode((0..<2).flatMap { _ in withUnsafeBytes(of: random()) { Array($0) } })
    }

    private mutating func answer(_ request: RTSPRequest) {
        var response = RTSPResponse(request.method == .options ? .ok : .notImplemented)
        response.headers.cseq = request.headers.cseq
        var buffer = ByteBuffer()
        response.write(into: &buffer)
        outputs.append(.send(buffer))
    }

    // MARK: Restart

    /// Connects again, to another address or with another transport.
    mutating func restart(at url: ServiceURL) {
        self.url = url
        (session, pending, tracks, backChannel, channels, serverPorts) = (nil, nil, [], nil, [:], [:])
        (firstDatagramDeadline, firstFrameDeadline, endDeadline) = (nil, nil, nil)
        nextKeepAlive = .distantFuture
        connect()
    }

    mutating func redirect(_ response: RTSPResponse) {
        redirects += 1
        // The password belongs to the configured host. Another host does not get it.
        guard let text = response.headers[RTSPHeaderName.location],
            let target = ServiceURL(text, maximumSize: 4_096, checksName: false),
            ["rtsp", "rtsps"].contains(target.scheme), redirects <= Self.maximumRedirects
        else {
            return fail(
                IoTError(.sourceUnreachable, "the camera redirects to an address that cannot be used, or too often"))
        }
        guard url.scheme == "rtsp" || target.scheme == "rtsps" else {
            return fail(
                IoTError(
                    .sourceUnsupported, "the camera redirects to an address without encryption (rtsp://)",
                    remedy: "use that address in the camera's URL if the network is trusted"))
        }
        if !isAtConfiguredHost(target) { authentication = RequestAuthentication(nil) }
        restart(at: target)
    }

    private func isAtConfiguredHost(_ url: ServiceURL) -> Bool { url.host == configuration.url.host }

    /// Which certificates to accept at the current URL.
    var trust: CameraTrust { isAtConfiguredHost(url) ? configuration.trust : configuration.trust.forAnotherHost }

    mutating func fallBackToTCP(at now: NIODeadline) {
        if session != nil { send(request(.teardown, aggregate)) }
        hasChangedTransport = true
        transport = .tcp
        openDeadline = now + configuration.openTimeout
        restart(at: url)
    }

    // MARK: Synchronization

    /// The smallest offset between picture and sound, in µs, that is corrected in one step (ITU-R BT.1359: viewers
    /// notice sound that is 125 ms late). A step back loses frames of sound, so a smaller offset is corrected gradually.
    private static let noticeableOffset: Int64 = 100_000

    /// Moves the audio, so that both tracks follow the camera's wall clock: a large offset after the first reports in one
    /// step, later ones gradually, because the tracks' RTP clocks drift apart.
    mutating func synchronize(afterReportOf track: Int) {
        guard tracks.count == 2,
            let video = tracks.firstIndex(where: { $0.kind == .video }),
            let audio = tracks.firstIndex(where: { $0.kind == .audio }),
            let first = tracks[video].wallClockOffset, let second = tracks[audio].wallClockOffset,
            // The audio's offset is exact only after its own report, because a slew changes it.
            !isSynchronized || track == audio
        else { return }
        let difference = second &- first
        // A larger difference means that the tracks' reports use unrelated clocks.
        guard difference.magnitude <= 2_000_000 else { return }
        if isSynchronized || difference.magnitude < Self.noticeableOffset {
            tracks[audio].clock.slew(by: difference)
        } else {
            tracks[audio].move(by: difference)
        }
        isSynchronized = true
    }
}
