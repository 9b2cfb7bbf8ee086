import IoTCore
import Logging
import MediaCodec
import NIOCore
import NIOPosix
import RTP
import RTSP
import Synchronization
import Testing

@testable import MediaChannel

/// Uses real sockets of this machine.
@Suite struct BackChannelLoudspeakerTests {
    private func loudspeaker(_ camera: ListeningCamera) throws -> BackChannelLoudspeaker {
        let settings = CameraSettings(name: "front", url: "rtsp://127.0.0.1:\(camera.port)/front")
        return BackChannelLoudspeaker(
            try #require(settings.rtspConfiguration), eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// 20 ms of a tone.
    private func tone(_ frame: Int) -> [Int16] {
        (0..<960).map { Int16(8_000 * sine(Double(frame * 960 + $0) * 440 / 48_000)) }
    }

    /// sin(2πx), by its series: exact enough, and the same on every machine.
    private func sine(_ turns: Double) -> Double {
        let angle = (turns - turns.rounded()) * 2 * Double.pi
        var (term, sum) = (angle, angle)
        for power in 1..<12 {
            term *= -angle * angle / Double((2 * power) * (2 * power + 1))
            sum += term
        }
        return sum
    }

    @Test("What is spoken while the session is opened arrives in the camera's codec")
    func speaks() async throws {
        let camera = try await ListeningCamera(type: 8)
        let loudspeaker = try loudspeaker(camera)
        for frame in 0..<10 { loudspeaker.play(tone(frame)) }
        try await loudspeaker.open()
        var heard: [Int16] = []
        let decoder = try AudioDecoder(AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1))
        var sequence: UInt16?
        for await packet in camera.packets {
            if let sequence { #expect(packet.sequenceNumber == sequence &+ 1) }
            sequence = packet.sequenceNumber
            let frame = MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: packet.payload)
            for buffer in try decoder.decode(frame) {
                var samples = buffer.samples
                while let sample = samples.readInteger(endianness: .little, as: Int16.self) { heard.append(sample) }
            }
            if heard.count >= 8 * 185 { break }
        }
        // On a slow machine, the session may have ended meanwhile.
        #expect(camera.methods.prefix(3) == ["DESCRIBE", "SETUP", "PLAY"])
        // The resampler's delay, and the silence that completes the first packet, are 4 ms at most.
        let best = (0..<32).map { shift in
            let found = heard[(100 + shift)..<(1_300 + shift)].map(Double.init)
            let reference = (0..<1_200).map { 8_000 * sine(Double($0 + 100) * 440 / 8_000) }
            let product = zip(found, reference).reduce(0) { $0 + $1.0 * $1.1 }
            let energy = found.reduce(0) { $0 + $1 * $1 } * reference.reduce(0) { $0 + $1 * $1 }
            return product / energy.squareRoot()
        }.max()
        #expect(try #require(best) > 0.99)
        await loudspeaker.close()
        try await camera.close()
    }

    @Test("A camera that refuses is not asked again, and everyone who waits gets its error")
    func refused() async throws {
        let camera = try await ListeningCamera(type: 0, refusal: .notEnoughBandwidth)
        let loudspeaker = try loudspeaker(camera)
        let errors = await withTaskGroup(of: ErrorCode?.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do throws(IoTError) { try await loudspeaker.open() } catch { return error.code }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors == [.sourceBusy, .sourceBusy, .sourceBusy])
        loudspeaker.play(tone(0))
        await #expect(throws: IoTError.self) { try await loudspeaker.open() }
        #expect(camera.methods == ["DESCRIBE", "SETUP"])
        try await camera.close()
    }

    @Test("While nobody speaks, the camera is not asked; closing while the session is opened ends the wait")
    func silent() async throws {
        let camera = try await ListeningCamera(type: 0, silent: true)
        let loudspeaker = try loudspeaker(camera)
        #expect(camera.methods.isEmpty)
        async let opening: Void = loudspeaker.open()
        for await _ in camera.requests { break }
        await loudspeaker.close()
        do {
            try await opening
            Issue.record("the session is not open")
        } catch {
            #expect((error as? IoTError)?.code == .stopping)
        }
        try await camera.close()
    }
}

/// A camera with a back channel of G.711, which records what it receives.
private final class ListeningCamera: Sendable {
    private let channel: any Channel
    private let log: Log
    let packets: AsyncStream<RTPPacket>
    let requests: AsyncStream<String>

    private final class Log: Sendable {
        let methods = Mutex<[String]>([])
    }

    /// - Parameters:
    ///   - refusal: The status of SETUP.
    ///   - silent: Whether no request is answered.
    init(type: UInt8, refusal: RTSPStatus? = nil, silent: Bool = false) async throws {
        let log = Log()
        let (packets, heard) = AsyncStream.makeStream(of: RTPPacket.self)
        let (requests, asked) = AsyncStream.makeStream(of: String.self)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(onPacket: { heard.yield($0) }) { request in
                            log.methods.withLock { $0.append(request.method.rawValue) }
                            asked.yield(request.method.rawValue)
                            return silent ? nil : Self.answer(request, type, refusal)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        (self.log, self.packets, self.requests) = (log, packets, requests)
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var methods: [String] { log.methods.withLock { $0 } }

    func close() async throws { try await channel.close() }

    private static func answer(_ request: RTSPRequest, _ type: UInt8, _ refusal: RTSPStatus?) -> RTSPResponse {
        var response = RTSPResponse(.ok)
        switch request.method {
        case .describe:
            response.body = ByteBuffer(string: "v=0\r\nm=audio 0 RTP/AVP \(type)\r\na=sendonly\r\na=control:back\r\n")
        case .setup:
            response = RTSPResponse(refusal ?? .ok)
            response.headers.transports = request.headers.transports
            response.headers.session = SessionHeader("1")
        default: break
        }
        response.headers.cseq = request.headers.cseq
        return response
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var parser = RTSPParser(limits: .server)
        private let onPacket: (RTPPacket) -> Void
        private let answer: (RTSPRequest) -> RTSPResponse?

        init(onPacket: @escaping (RTPPacket) -> Void, _ answer: @escaping (RTSPRequest) -> RTSPResponse?) {
            self.onPacket = onPacket
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            parser.receive(unwrapInboundIn(data))
            while let message = try? parser.next() {
                switch message {
                case .request(let request):
                    guard let response = answer(request) else { continue }
                    var bytes = ByteBuffer()
                    response.write(into: &bytes)
                    context.writeAndFlush(NIOAny(bytes), promise: nil)
                case .frame(let frame):
                    guard frame.channel == 0, let packet = try? RTPPacket(parsing: frame.payload) else { continue }
                    onPacket(packet)
                case .response: break
                }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
