import IoTCore
import NIOCore
import RTP

@testable import RTSP

/// A camera without sockets, which answers a client's requests in virtual time.
struct ScriptedCamera {
    static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    /// µs since 1970 at `start`.
    static let wallClock: Int64 = 1_700_000_000_000_000
    static let video = [
        "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000",
        "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z00AH9oBQBbs,aO48gA==", "a=control:trackID=0",
    ]
    static let audio = ["m=audio 0 RTP/AVP 8", "a=control:trackID=1"]

    var client: RTSPClient
    var now = start
    /// All requests, in order.
    private(set) var requests: [RTSPRequest] = []
    private(set) var connections: [ServiceURL] = []
    private(set) var opened = 0
    private(set) var frames: [MediaFrame] = []
    private(set) var datagrams: [(track: Int, isControl: Bool, port: UInt16)] = []
    private(set) var controlBytes = 0
    private(set) var backChannel: (format: BackChannelFormat, profile: BackChannelProfile)?
    /// The packets of sound and the sender reports that the camera has received, with their channels or ports.
    private(set) var sound: [(packet: RTPPacket, place: Int)] = []
    private(set) var reports: [(report: RTCPSenderReport, place: Int)] = []
    private(set) var failure: IoTError?
    private(set) var deadline: NIODeadline?

    var lines = ScriptedCamera.video + ScriptedCamera.audio
    /// Replaces the response to a request; `nil` means the usual response.
    var answer: (RTSPRequest, Int) -> RTSPResponse? = { _, _ in nil }
    /// Methods without a response.
    var silent: Set<RTSPMethod> = []

    init(
        transport: RTSPTransport = .tcp, credentials: BasicCredentials? = nil,
        url: String = "rtsp://192.0.2.7/front", trust: CameraTrust = .none,
        purpose: RTSPClientConfiguration.Purpose = .reading
    ) {
        let target = ServiceURL(url, maximumSize: 4_096, checksName: false)
        var configuration = RTSPClientConfiguration(
            url: target ?? ServiceURL("rtsp://invalid/").unsafelyUnwrapped, credentials: credentials,
            transport: transport)
        configuration.openTimeout = .seconds(10)
        configuration.trust = trust
        configuration.purpose = purpose
        client = RTSPClient(configuration, at: Self.start, wallClock: Self.wallClock) { 0x0123_4567_89AB_CDEF }
    }

    var methods: [RTSPMethod] { requests.map(\.method) }

    mutating func play() {
        client.start()
        pump()
    }

    mutating func advance(_ time: TimeAmount) {
        let end = now + time
        var steps = 0
        while let due = deadline, due <= end, failure == nil, steps < 10_000 {
            steps += 1
            now = max(now, due)
            client.handleTimeout(at: now)
            pump()
        }
        now = end
    }

    mutating func send(_ message: RTSPMessage) {
        client.receive(message, at: now)
        pump()
    }

    mutating func sendRTP(_ packet: RTPPacket, channel: UInt8) {
        var bytes = ByteBuffer()
        packet.write(into: &bytes)
        send(.frame(InterleavedFrame(channel: channel, payload: bytes)))
    }

    mutating func sendPicture(_ number: UInt16, timestamp: UInt32, isKey: Bool = true, channel: UInt8 = 0) {
        sendRTP(Self.picture(number, timestamp: timestamp, isKey: isKey), channel: channel)
    }

    static func picture(_ number: UInt16, timestamp: UInt32, isKey: Bool = true) -> RTPPacket {
        RTPPacket(
            payloadType: 96, marker: true, sequenceNumber: number, timestamp: timestamp, ssrc: 7,
            payload: ByteBuffer(bytes: [isKey ? 0x65 : 0x41, 0x88, 0x84]))
    }

    mutating func sendReport(ssrc: UInt32, ntp seconds: UInt32, rtp: UInt32, channel: UInt8) {
        var bytes = ByteBuffer()
        let report = RTCPSenderReport(
            ssrc: ssrc, ntpTimestamp: UInt64(seconds) << 32, rtpTimestamp: rtp, packetCount: 0, octetCount: 0)
        RTCPPacket.write(compound: [.senderReport(report)], into: &bytes)
        send(.frame(InterleavedFrame(channel: channel, payload: bytes)))
    }

    mutating func pump() {
        while let output = client.poll() {
            switch output {
            case .connect(let url):
                connections.append(url)
                client.connected(at: now)
            case .send(let bytes): take(bytes)
            case .openPorts(let track): client.portsOpened(track: track, rtp: UInt16(5_000 + 2 * track))
            case .datagram(let bytes, let track, let isControl, let port):
                datagrams.append((track, isControl, port))
                hear(bytes, isControl: isControl, place: Int(port))
            case .packet(let bytes): take(bytes)
            case .backChannelOpened(let format, let profile): backChannel = (format, profile)
            case .opened: opened += 1
            case .frame(let frame): frames.append(frame)
            case .timeout(let due):
                deadline = due
                return
            case .failed(let error): failure = error
            }
        }
        deadline = nil
    }

    private mutating func take(_ bytes: ByteBuffer) {
        var parser = RTSPParser(limits: .server)
        parser.receive(bytes)
        while let message = try? parser.next() {
            switch message {
            case .request(let request): take(request)
            case .frame(let frame):
                controlBytes += frame.payload.readableBytes
                hear(frame.payload, isControl: frame.channel == 1, place: Int(frame.channel))
            case .response: break
            }
        }
    }

    private mutating func hear(_ bytes: ByteBuffer, isControl: Bool, place: Int) {
        if !isControl, let packet = try? RTPPacket(parsing: bytes) { sound.append((packet, place)) }
        guard isControl else { return }
        for case .senderReport(let report) in (try? RTCPPacket.parseCompound(bytes)) ?? [] {
            reports.append((report, place))
        }
    }

    private mutating func take(_ request: RTSPRequest) {
        requests.append(request)
        let number = requests.count { $0.method == request.method }
        guard !silent.contains(request.method), request.method != .teardown else { return }
        var response = answer(request, number) ?? usual(request)
        response.headers.cseq = response.headers.cseq ?? request.headers.cseq
        client.receive(.response(response), at: now)
    }

    func usual(_ request: RTSPRequest) -> RTSPResponse {
        var response = RTSPResponse(.ok)
        switch request.method {
        case .describe:
            let text = (["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=x", "t=0 0", "a=control:*"] + lines)
                .joined(separator: "\r\n")
            response.headers[RTSPHeaderName.contentBase] = request.uri + "/"
            response.body = ByteBuffer(string: text)
        case .setup:
            var transport = request.headers.transports[0]
            if transport.lowerTransport == .udp { transport.serverPorts = .init(6_000, 6_001) }
            response.headers.transports = [transport]
            response.headers.session = SessionHeader("12345678", timeout: 60)
        case .options:
            response.headers[RTSPHeaderName.isPublic] = "OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER"
        default: break
        }
        return response
    }
}
