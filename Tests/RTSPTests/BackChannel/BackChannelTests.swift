import IoTCore
import NIOCore
import RTP
import Testing

@testable import RTSP

/// Uses virtual time and no sockets.
@Suite struct BackChannelTests {
    private static let pcmu = ["m=audio 0 RTP/AVP 0", "a=sendonly", "a=control:trackID=5"]

    private func camera(
        _ lines: [String], transport: RTSPTransport = .tcp, credentials: BasicCredentials? = nil
    ) -> ScriptedCamera {
        var camera = ScriptedCamera(transport: transport, credentials: credentials, purpose: .backChannel)
        camera.lines = ScriptedCamera.video + ["a=recvonly"] + ScriptedCamera.audio + ["a=recvonly"] + lines
        return camera
    }

    /// Sends packets of 20 ms in real time.
    private func speak(_ camera: inout ScriptedCamera, packets: Int, sampleCount: Int = 160) {
        for number in 0..<packets {
            let sound = ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: sampleCount)
            camera.client.send(sound: sound, sampleCount: sampleCount, at: camera.now)
            camera.pump()
            camera.advance(.milliseconds(20))
        }
    }

    @Test("Only the back channel is set up, every request requires it, and nothing is sent before PLAY is accepted")
    func requests() {
        var camera = camera(Self.pcmu)
        camera.silent = [.play]
        camera.play()
        speak(&camera, packets: 3)
        #expect(camera.sound.isEmpty && camera.backChannel == nil)
        camera.client.stop()
        camera.pump()
        #expect(camera.methods == [.describe, .setup, .play, .teardown])
        #expect(camera.requests.allSatisfy { $0.headers.required == [RTSPOption.backChannel] })
        #expect(camera.requests[1].uri == "rtsp://192.0.2.7/front/trackID=5")
        #expect(camera.requests[1].headers.transports == [TransportHeader(.tcp, interleaved: .init(0, 1))])
    }

    @Test("The RTP clock counts samples, the first packet has the marker, and reports map the clock to the wall clock")
    func clock() throws {
        var camera = camera(Self.pcmu)
        camera.play()
        let format = try #require(camera.backChannel?.format)
        #expect(format.codec == .pcmu && format.sampleRate == 8_000 && format.payloadType == 0)
        #expect(camera.backChannel?.profile.sampleCount(format) == 160)
        speak(&camera, packets: 150)
        let packets = camera.sound.map(\.packet)
        #expect(packets.count == 150 && camera.sound.allSatisfy { $0.place == 0 })
        #expect(packets.map(\.marker) == [true] + Array(repeating: false, count: 149))
        #expect(packets.allSatisfy { $0.payloadType == 0 && $0.ssrc == packets[0].ssrc })
        #expect(packets.map { Array($0.payload.readableBytesView) }[7] == Array(repeating: 7, count: 160))
        for (earlier, later) in zip(packets, packets.dropFirst()) {
            #expect(later.sequenceNumber == earlier.sequenceNumber &+ 1)
            #expect(later.timestamp == earlier.timestamp &+ 160)
        }
        // At 0, 1, 2 and 3 s.
        #expect(camera.reports.count == 4 && camera.reports.allSatisfy { $0.place == 1 })
        for (index, report) in camera.reports.map(\.report).enumerated() {
            #expect(report.ssrc == packets[0].ssrc)
            #expect(report.rtpTimestamp == packets[0].timestamp &+ UInt32(index * 8_000))
            // NTP's seconds count from 1900.
            #expect(report.ntpTimestamp >> 32 == 1_700_000_000 + 2_208_988_800 + UInt64(index))
        }
    }

    @Test("The session is kept alive, also while nobody speaks, until the camera ends it")
    func keepAlive() {
        var camera = camera(Self.pcmu)
        camera.play()
        camera.advance(.seconds(100))
        #expect(camera.methods.dropFirst(3) == [.options, .getParameter, .getParameter] && camera.failure == nil)
        camera.answer = { request, _ in
            request.method == .getParameter ? RTSPResponse(.sessionNotFound) : nil
        }
        camera.advance(.seconds(30))
        #expect(camera.failure?.code == .sourceUnreachable)
    }

    @Test("A digest is answered once, and a nonce that is stale at SETUP is replaced")
    func digest() {
        var camera = camera(Self.pcmu, credentials: BasicCredentials(username: "talker", password: "secret"))
        camera.answer = { request, number in
            let authorization = request.headers[RTSPHeaderName.authorization].flatMap { DigestAuthorization($0) }
            let wanted = request.method == .describe ? "first" : "second"
            guard authorization?.nonce != wanted else { return nil }
            let challenge = HTTPDigest(realm: "x", nonce: wanted, hasQuality: true, isStale: authorization != nil)
            return RTSPResponse(.unauthorized, headers: ["WWW-Authenticate": challenge.text])
        }
        camera.play()
        #expect(camera.methods == [.describe, .describe, .setup, .setup, .play] && camera.backChannel != nil)

        var refusing = self.camera(Self.pcmu, credentials: BasicCredentials(username: "talker", password: "wrong"))
        refusing.answer = { _, number in
            RTSPResponse(.unauthorized, headers: ["WWW-Authenticate": "Digest realm=\"x\", nonce=\"\(number)\""])
        }
        refusing.play()
        #expect(refusing.methods == [.describe, .describe] && refusing.failure?.code == .sourceRefused)
    }

    @Test(
        "A camera without a back channel is refused with its own number, before SETUP",
        arguments: [RTSPStatus.optionNotSupported, .badRequest, .notImplemented, nil])
    func missing(status: RTSPStatus?) {
        var camera = camera([])
        camera.answer = { _, _ in status.map { RTSPResponse($0) } }
        camera.play()
        #expect(camera.methods == [.describe])
        #expect(camera.failure?.code == .backChannelMissing)
        if let status { #expect(camera.failure?.message.contains("\(status.rawValue)") == true) }
    }

    @Test(
        "A camera that refuses a second back channel is busy",
        arguments: [
            (RTSPMethod.setup, RTSPStatus.notEnoughBandwidth), (.setup, .serviceUnavailable),
            (.play, .internalServerError),
        ])
    func busy(method: RTSPMethod, status: RTSPStatus) {
        var camera = camera(Self.pcmu)
        camera.answer = { request, _ in request.method == method ? RTSPResponse(status) : nil }
        camera.play()
        #expect(camera.failure?.code == .sourceBusy && camera.failure?.remedy.contains("other talk") == true)
        #expect(camera.failure?.message.contains("\(method.rawValue), \(status.rawValue)") == true)
    }

    @Test(
        "The codec is G.711 at 8 kHz if the camera accepts it, then at 16 kHz, then AAC",
        arguments: [
            // Dahua (bluenviron/gortsplib#479)
            (
                "116 104 0 103 8|116 MPEG4-GENERIC/64000|104 PCMU/16000|0 PCMU/8000|103 PCMA/16000|8 PCMA/8000",
                AudioCodec.pcmu, 8_000, 0
            ),
            ("8 0", .pcma, 8_000, 8), ("97 104|97 mpeg4-generic/16000|104 PCMA/16000", .pcma, 16_000, 104),
            // H3C (AlexxIT/go2rtc#1426)
            ("0|0 PCMA/8000|0 PCMU/8000", .pcmu, 8_000, 0),
            // Avigilon (bluenviron/gortsplib#501)
            ("0 97|0 pcmu/8000|97 opus/48000/2", .pcmu, 8_000, 0),
            ("96 97|96 PCMU/8000/2|97 mpeg4-generic/16000/1", .aac, 16_000, 97),
        ])
    func codec(offer: String, codec: AudioCodec, rate: Int, type: Int) throws {
        let parts = offer.split(separator: "|")
        let lines = ["m=audio 0 RTP/AVP \(parts[0])", "a=sendonly"] + parts.dropFirst().map { "a=rtpmap:\($0)" }
        var camera = camera(lines)
        camera.play()
        let format = try #require(camera.backChannel?.format)
        #expect(format.codec == codec && format.sampleRate == rate && Int(format.payloadType) == type)
        #expect(format.channels == 1)
    }

    @Test(
        "Codecs that are not sent are named",
        arguments: ["97|97 opus/48000/2", "9", "97|97 mpeg4-generic/44100/6", "98|98 G726-32/8000"])
    func unsupported(offer: String) {
        let parts = offer.split(separator: "|")
        let lines = ["m=audio 0 RTP/AVP \(parts[0])", "a=sendonly"] + parts.dropFirst().map { "a=rtpmap:\($0)" }
        var camera = camera(lines)
        camera.play()
        #expect(camera.failure?.code == .sourceUnsupported && camera.failure?.remedy.contains("G.711") == true)
        #expect(camera.methods == [.describe])
    }

    @Test("AAC is sent in AAC-hbr; its clock counts the samples of one channel")
    func aac() throws {
        var camera = camera([
            "m=audio 0 RTP/AVP 97", "a=rtpmap:97 mpeg4-generic/16000/2",
            "a=fmtp:97 mode=AAC-hbr;config=1410;sizelength=13;indexlength=3;indexdeltalength=3", "a=sendonly",
        ])
        camera.play()
        let (format, profile) = try #require(camera.backChannel)
        #expect(format.channels == 2 && format.audioSpecificConfig == [0x14, 0x10])
        #expect(profile.sampleCount(format) == 1_024)
        for size in [300, 3_000] {
            camera.client.send(sound: ByteBuffer(repeating: 9, count: size), sampleCount: 1_024, at: camera.now)
            camera.pump()
        }
        let packets = camera.sound.map(\.packet)
        // AU-headers-length 16; AU-size and AU-Index. A long unit is cut into fragments, the last with the marker.
        #expect(packets.map(\.marker) == [true, false, false, true])
        #expect(Array(packets[0].payload.readableBytesView.prefix(4)) == [0, 16, 0x09, 0x60])
        #expect(Array(packets[1].payload.readableBytesView.prefix(4)) == [0, 16, 0x5D, 0xC0])
        #expect(Set(packets.dropFirst().map { $0.timestamp &- packets[0].timestamp }) == [1_024])
    }

    @Test("A camera that refuses TCP gets UDP on the same connection, and one that refuses both is not asked again")
    func transports() throws {
        var camera = camera(Self.pcmu)
        camera.answer = { request, number in
            request.method == .setup && number == 1 ? RTSPResponse(.unsupportedTransport) : nil
        }
        camera.play()
        #expect(camera.methods == [.describe, .setup, .setup, .play] && camera.connections.count == 1)
        #expect(camera.requests[2].headers.transports == [TransportHeader(.udp, clientPorts: .init(5_000, 5_001))])
        speak(&camera, packets: 5)
        #expect(camera.sound.count == 5 && camera.sound.allSatisfy { $0.place == 6_000 })
        #expect(camera.reports.map(\.place) == [6_001])

        // With rtsps:// the sound is never sent by UDP, which is not encrypted.
        var encrypted = ScriptedCamera(url: "rtsps://192.0.2.7/front", purpose: .backChannel)
        encrypted.lines = camera.lines
        encrypted.answer = camera.answer
        encrypted.play()
        #expect(encrypted.methods == [.describe, .setup] && encrypted.failure != nil && encrypted.datagrams.isEmpty)

        for transport in [RTSPTransport.tcp, .udp] {
            var refusing = self.camera(Self.pcmu, transport: transport)
            refusing.answer = { request, _ in
                request.method == .setup ? RTSPResponse(.unsupportedTransport) : nil
            }
            refusing.play()
            #expect(refusing.failure != nil && refusing.requests.count { $0.method == .setup } == 2)
        }

        // OpenIPC names no port of its own (AlexxIT/go2rtc, `pkg/rtsp/client.go`).
        var portless = self.camera(Self.pcmu, transport: .udp)
        portless.answer = { request, _ in
            guard request.method == .setup else { return nil }
            return RTSPResponse(.ok, headers: ["Session": "1", "Transport": "RTP/AVP;unicast;client_port=5000-5001"])
        }
        portless.play()
        #expect(portless.failure?.message.contains("UDP port") == true)
    }

    @Test(
        "A Reolink doorbell gets packets of 1,024 bytes with markers; with PCMA, times of 0 and no reports",
        arguments: [UInt8(8), 0])
    func reolink(type: UInt8) throws {
        var camera = camera(["m=audio 0 RTP/AVP \(type)", "a=sendonly"])
        camera.lines.insert("a=tool:BC Streaming Media v202210012022.10.01", at: 0)
        camera.play()
        let (format, profile) = try #require(camera.backChannel)
        #expect(profile.sampleCount(format) == 1_024 && profile.lead == .zero)
        for _ in 0..<20 {
            camera.client.send(sound: ByteBuffer(repeating: 1, count: 1_024), sampleCount: 1_024, at: camera.now)
            camera.pump()
            camera.advance(.milliseconds(128))
        }
        let packets = camera.sound.map(\.packet)
        #expect(packets.count == 20 && packets.allSatisfy { $0.marker && $0.payload.readableBytes == 1_024 })
        let times = packets.map { $0.timestamp &- packets[0].timestamp }
        if type == 8 {
            #expect(packets.allSatisfy { $0.timestamp == 0 } && camera.reports.isEmpty)
        } else {
            #expect(times == (0..<20).map { UInt32($0 * 1_024) } && camera.reports.count == 3)
        }
    }

    @Test("What the camera sends on the back channel's connection does not disturb it")
    func strange() {
        var camera = camera(Self.pcmu)
        camera.play()
        var receiverReport = ByteBuffer()
        RTCPPacket.write(compound: [.receiverReport(RTCPReceiverReport(ssrc: 7))], into: &receiverReport)
        for channel in 0...3 as ClosedRange<UInt8> {
            camera.send(.frame(InterleavedFrame(channel: channel, payload: receiverReport)))
            camera.sendPicture(1, timestamp: 0, channel: channel)
        }
        speak(&camera, packets: 3)
        #expect(camera.failure == nil && camera.sound.count == 3 && camera.frames.isEmpty)
    }
}
