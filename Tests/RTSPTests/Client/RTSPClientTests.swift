import IoTCore
import NIOCore
import RTP
import Testing

@testable import RTSP

/// Uses virtual time and no sockets.
@Suite struct RTSPClientTests {
    private static let user = BasicCredentials(username: "viewer", password: "secret")

    @Test("A session needs one request for each step, and both tracks use one clock")
    func session() throws {
        var camera = ScriptedCamera()
        camera.play()
        #expect(camera.methods == [.describe, .setup, .setup, .play])
        #expect(
            camera.requests.map(\.uri) == [
                "rtsp://192.0.2.7/front", "rtsp://192.0.2.7/front/trackID=0", "rtsp://192.0.2.7/front/trackID=1",
                "rtsp://192.0.2.7/front/",
            ])
        #expect(camera.requests.map(\.headers.cseq) == [1, 2, 3, 4])
        #expect(camera.requests[1].headers.transports == [TransportHeader(.tcp, interleaved: .init(0, 1))])
        #expect(camera.requests[3].headers.session?.identifier == "12345678" && camera.opened == 1)
        #expect(camera.requests.allSatisfy { $0.headers.required.isEmpty })
        for number in 0..<5 as Range<UInt16> {
            camera.sendPicture(number, timestamp: .max - 3_600 &+ UInt32(number) * 3_600)
            camera.now = camera.now + .milliseconds(40)
        }
        #expect(camera.frames.map(\.pts) == [0, 40_000, 80_000, 120_000, 160_000])
        // A key frame contains the description's parameter sets.
        #expect(camera.frames[0].isKeyFrame && camera.frames[0].nalUnits.map(\.readableBytes) == [9, 4, 3])
        camera.client.stop()
        camera.pump()
        #expect(camera.methods.last == .teardown)
    }

    @Test("A stale nonce is replaced without another login; a wrong password is sent only once")
    func digest() throws {
        let challenge = { (nonce: String, isStale: Bool) in
            RTSPResponse(
                .unauthorized,
                headers: [
                    "WWW-Authenticate": HTTPDigest(realm: "x", nonce: nonce, hasQuality: true, isStale: isStale).text
                ])
        }
        var camera = ScriptedCamera(credentials: Self.user)
        var proofs: [Bool] = []
        let nonces = ["first", "second"]
        camera.answer = { request, _ in
            guard let text = request.headers[RTSPHeaderName.authorization], let given = DigestAuthorization(text) else {
                return challenge("first", false)
            }
            // From PLAY on, the first nonce is stale.
            if request.method == .play, given.nonce == nonces[0] { return challenge("second", true) }
            return nil
        }
        camera.play()
        #expect(camera.methods == [.describe, .describe, .setup, .setup, .play, .play] && camera.opened == 1)
        for request in camera.requests.dropFirst() {
            let text = try #require(request.headers[RTSPHeaderName.authorization])
            let authorization = try #require(DigestAuthorization(text))
            proofs.append(
                authorization.isProof(
                    of: DigestAlgorithm.md5.secret(username: "viewer", realm: "x", password: "secret"),
                    method: request.method.rawValue))
        }
        #expect(proofs.count == 5 && proofs.allSatisfy { $0 })

        var refusing = ScriptedCamera(credentials: Self.user)
        refusing.answer = { _, number in challenge("n\(number)", false) }
        refusing.play()
        #expect(refusing.methods == [.describe, .describe])
        #expect(refusing.failure?.code == .sourceRefused)

        var asking = ScriptedCamera()
        asking.answer = { _, _ in challenge("n", false) }
        asking.play()
        #expect(asking.methods == [.describe] && asking.failure?.remedy.contains("passwordFile") == true)
    }

    @Test("At most five redirections are followed, and another host does not get the password")
    func redirect() {
        var camera = ScriptedCamera(credentials: Self.user)
        camera.answer = { request, number in
            guard request.method == .describe, number == 1 else { return nil }
            return RTSPResponse(.movedTemporarily, headers: ["Location": "rtsp://192.0.2.9:8554/other"])
        }
        camera.play()
        #expect(camera.connections.map(\.text) == ["rtsp://192.0.2.7/front", "rtsp://192.0.2.9:8554/other"])
        #expect(camera.opened == 1 && camera.requests[1].uri == "rtsp://192.0.2.9:8554/other")

        var endless = ScriptedCamera(credentials: Self.user)
        endless.answer = { _, number in
            RTSPResponse(.movedPermanently, headers: ["Location": "rtsp://192.0.2.7/\(number)"])
        }
        endless.play()
        #expect(endless.connections.count == 6 && endless.failure?.code == .sourceUnreachable)

        var thief = ScriptedCamera(credentials: Self.user)
        thief.answer = { request, number in
            number == 1
                ? RTSPResponse(.movedTemporarily, headers: ["Location": "rtsp://198.51.100.1/x"])
                : RTSPResponse(.unauthorized, headers: ["WWW-Authenticate": "Basic realm=x"])
        }
        thief.play()
        #expect(thief.failure?.code == .sourceRefused)
        #expect(thief.requests.allSatisfy { $0.headers[RTSPHeaderName.authorization] == nil })

        for location in [nil, "http://192.0.2.9/", "nonsense"] as [String?] {
            var odd = ScriptedCamera()
            odd.answer = { _, _ in
                var response = RTSPResponse(.movedTemporarily)
                response.headers[RTSPHeaderName.location] = location
                return response
            }
            odd.play()
            #expect(odd.failure?.code == .sourceUnreachable && odd.connections.count == 1)
        }
    }

    @Test("A redirection may lead to rtsps://, but never back to rtsp://; with rtsps:// no media come by UDP")
    func encrypted() {
        var camera = ScriptedCamera(transport: .udp, credentials: Self.user)
        camera.answer = { request, number in
            guard request.method == .describe, number == 1 else { return nil }
            return RTSPResponse(.movedTemporarily, headers: ["Location": "rtsps://192.0.2.7/front"])
        }
        camera.play()
        #expect(camera.connections.map(\.scheme) == ["rtsp", "rtsps"] && camera.failure == nil)
        let transports = camera.requests.filter { $0.method == .setup }.map { $0.headers[RTSPHeaderName.transport] }
        #expect(!transports.isEmpty && transports.allSatisfy { $0?.contains("interleaved") == true })

        var configured = ScriptedCamera(credentials: Self.user, url: "rtsps://192.0.2.7/front")
        configured.answer = { _, _ in
            RTSPResponse(.movedTemporarily, headers: ["Location": "rtsp://192.0.2.7/front"])
        }
        configured.play()
        #expect(configured.connections.map(\.scheme) == ["rtsps"])
        #expect(configured.failure?.code == .sourceUnsupported)
    }

    @Test(
        "At another host, a redirection trusts no certificate but a pinned one",
        arguments: [
            (CameraTrust.any, "192.0.2.7:322", CameraTrust.any), (.any, "192.0.2.9", .none),
            (.pinned(CertificateDigest(der: [1])), "192.0.2.9", .pinned(CertificateDigest(der: [1]))),
        ])
    func redirectedTrust(configured: CameraTrust, target: String, trust: CameraTrust) {
        var camera = ScriptedCamera(url: "rtsps://192.0.2.7/front", trust: configured)
        camera.answer = { request, number in
            guard request.method == .describe, number == 1 else { return nil }
            return RTSPResponse(.movedTemporarily, headers: ["Location": "rtsps://\(target)/front"])
        }
        #expect(camera.client.trust == configured)
        camera.play()
        #expect(camera.connections.count == 2 && camera.failure == nil && camera.client.trust == trust)
    }

    @Test("OPTIONS keeps the session alive, or GET_PARAMETER after the server has offered it")
    func keepAlive() {
        var camera = ScriptedCamera()
        camera.play()
        feed(&camera, seconds: 100)
        #expect(camera.methods.dropFirst(4) == [.options, .getParameter, .getParameter])
        #expect(camera.failure == nil)

        var simple = ScriptedCamera()
        simple.answer = { request, _ in
            switch request.method {
            case .options: RTSPResponse(.ok, headers: ["Public": "OPTIONS, PLAY"])
            case .setup:
                RTSPResponse(
                    .ok,
                    headers: [
                        "Session": "1;timeout=10", "Transport": request.headers[RTSPHeaderName.transport] ?? "",
                    ])
            default: nil
            }
        }
        simple.play()
        feed(&simple, seconds: 21)
        #expect(simple.methods.dropFirst(4) == [.options, .options, .options, .options])
        #expect(simple.requests.last?.headers.session?.identifier == "1")
    }

    /// Sends a picture each second.
    private func feed(_ camera: inout ScriptedCamera, seconds: Int, isKey: Bool = true) {
        for second in 0..<seconds {
            camera.sendPicture(UInt16(second), timestamp: UInt32(second) * 90_000, isKey: isKey)
            camera.advance(.seconds(1))
        }
    }

    @Test("A refused or unanswered keep-alive does not end a stream; the end of the session does")
    func keepAliveFailures() {
        var camera = ScriptedCamera()
        camera.silent = [.options, .getParameter]
        camera.play()
        feed(&camera, seconds: 100)
        #expect(camera.failure == nil && camera.methods.count == 7)

        var refusing = ScriptedCamera(credentials: Self.user)
        refusing.answer = { request, _ in
            request.method == .options ? RTSPResponse(.unauthorized, headers: ["WWW-Authenticate": "Bearer"]) : nil
        }
        refusing.play()
        feed(&refusing, seconds: 40)
        #expect(refusing.failure == nil)

        var ended = ScriptedCamera()
        ended.answer = { request, _ in request.method == .options ? RTSPResponse(.sessionNotFound) : nil }
        ended.play()
        feed(&ended, seconds: 40)
        #expect(ended.failure?.code == .sourceUnreachable)
    }

    @Test("If UDP is blocked, TCP is used after three seconds")
    func udpBlocked() {
        var camera = ScriptedCamera(transport: .udp)
        camera.play()
        #expect(camera.requests[1].headers.transports == [TransportHeader(.udp, clientPorts: .init(5_000, 5_001))])
        // A datagram from both ports of both tracks opens the path for the camera's packets.
        #expect(camera.datagrams.map(\.port) == [6_000, 6_001, 6_000, 6_001])
        camera.advance(.seconds(4))
        #expect(camera.methods == [.describe, .setup, .setup, .play, .teardown, .describe, .setup, .setup, .play])
        #expect(camera.requests[6].headers.transports == [TransportHeader(.tcp, interleaved: .init(0, 1))])
        #expect(camera.connections.count == 2)
        camera.sendPicture(1, timestamp: 0)
        #expect(camera.frames.count == 1 && camera.failure == nil)
    }

    @Test("Over UDP, packets are put in order, lost ones are counted, and reports are sent")
    func udp() {
        var camera = ScriptedCamera(transport: .udp)
        camera.play()
        for number in [0, 2, 1, 3, 5, 6] as [UInt16] {
            var bytes = ByteBuffer()
            ScriptedCamera.picture(number, timestamp: UInt32(number) * 3_600).write(into: &bytes)
            camera.client.receive(datagram: bytes, track: 0, isControl: false, at: camera.now)
            camera.pump()
            camera.now = camera.now + .milliseconds(20)
        }
        camera.advance(.seconds(6))
        #expect(camera.frames.map { $0.pts / 40_000 } == [0, 1, 2, 3, 5, 6])
        #expect(camera.client.packetsLost == 1)
        #expect(camera.datagrams.count { $0.isControl } > 2 && camera.failure == nil)
    }

    @Test("If the server does not support UDP, the client requests TCP")
    func unsupportedTransport() {
        var camera = ScriptedCamera(transport: .udp)
        camera.answer = { request, number in
            request.method == .setup && number == 1 ? RTSPResponse(.unsupportedTransport) : nil
        }
        camera.play()
        #expect(camera.methods == [.describe, .setup, .describe, .setup, .setup, .play] && camera.opened == 1)
    }

    @Test("Media are accepted before the response to PLAY and on channels that the server chose")
    func odd() {
        var camera = ScriptedCamera()
        camera.silent = [.play]
        camera.answer = { request, number in
            guard request.method == .setup else { return nil }
            // This camera chooses other channels, and another session identifier for each track.
            return RTSPResponse(
                .ok, headers: ["Session": "\(number)", "Transport": "RTP/AVP/TCP;interleaved=\(8 + number * 2)"])
        }
        camera.play()
        #expect(camera.requests.last?.headers.session?.identifier == "2" && camera.opened == 0)
        camera.sendPicture(1, timestamp: 0, channel: 10)
        camera.sendPicture(2, timestamp: 0, channel: 0)
        camera.sendPicture(3, timestamp: 0, channel: 99)
        #expect(camera.opened == 1 && camera.frames.count == 1)
    }

    @Test("Only a packet of a track's payload type counts as the response to PLAY, and an error of PLAY still counts")
    func mediaBeforeResponse() {
        func start(_ answer: RTSPResponse?) -> ScriptedCamera {
            var camera = ScriptedCamera(transport: .udp, credentials: Self.user)
            camera.silent = [.play]
            camera.play()
            var other = ScriptedCamera.picture(1, timestamp: 0)
            other.payloadType = 0
            var foreign = ByteBuffer()
            other.write(into: &foreign)
            for bytes in [ByteBuffer(bytes: [1, 2, 3]), foreign] {
                for isControl in [false, true] {
                    camera.client.receive(datagram: bytes, track: 0, isControl: isControl, at: camera.now)
                    camera.pump()
                }
            }
            #expect(camera.opened == 0 && camera.datagrams.isEmpty)
            var bytes = ByteBuffer()
            ScriptedCamera.picture(1, timestamp: 0).write(into: &bytes)
            camera.client.receive(datagram: bytes, track: 0, isControl: false, at: camera.now)
            camera.pump()
            #expect(camera.opened == 1 && camera.frames.count == 1)
            if var answer {
                answer.headers.cseq = camera.requests.last?.headers.cseq
                camera.send(.response(answer))
            }
            return camera
        }
        #expect(start(nil).failure == nil && start(RTSPResponse(.ok)).failure == nil)
        #expect(start(RTSPResponse(.internalServerError)).failure?.code == .sourceUnreachable)
        let challenged = start(
            RTSPResponse(.unauthorized, headers: ["WWW-Authenticate": "Basic realm=\"x\""]))
        #expect(challenged.methods.suffix(2) == [.play, .play] && challenged.failure == nil)
        #expect(challenged.requests.last?.headers[RTSPHeaderName.authorization] != nil)
    }

    @Test("Requests of the camera are answered; responses without a request are ignored")
    func requests() {
        var camera = ScriptedCamera()
        camera.play()
        for method in [RTSPMethod.options, .announce] { camera.send(.request(RTSPRequest(method, "*"))) }
        camera.send(.response(RTSPResponse(.notFound, headers: ["CSeq": "77"])))
        camera.send(.response(RTSPResponse(.notFound)))
        #expect(camera.failure == nil)
    }

    @Test(
        "The status of a response determines the error",
        arguments: [
            (.describe, .notFound, .sourceNotFound), (.describe, .forbidden, .sourceRefused),
            (.setup, .serviceUnavailable, .sourceUnreachable), (.play, .internalServerError, .sourceUnreachable),
            (.setup, .unsupportedTransport, .sourceUnreachable),
        ] as [(RTSPMethod, RTSPStatus, ErrorCode)])
    func failures(method: RTSPMethod, status: RTSPStatus, code: ErrorCode) {
        var camera = ScriptedCamera()
        camera.answer = { request, _ in request.method == method ? RTSPResponse(status) : nil }
        camera.play()
        #expect(camera.failure?.code == code)
        #expect(camera.client.isEnded && camera.client.poll() == nil)
    }

    @Test("A description without a supported track is refused, and the error names its tracks")
    func unsupported() {
        var camera = ScriptedCamera()
        camera.lines = ["m=video 0 RTP/AVP 26", "m=audio 0 RTP/AVP 98", "a=rtpmap:98 G726-32/8000"]
        camera.play()
        #expect(camera.failure?.code == .sourceUnsupported)
        #expect(camera.failure?.message.contains("video JPEG, audio G726-32") == true)
        camera = ScriptedCamera()
        camera.lines = []
        camera.play()
        #expect(camera.failure?.code == .sourceUnsupported)
    }

    @Test("A camera that never answers or stops sending causes an error in time")
    func silence() {
        for method in [RTSPMethod.describe, .setup, .play] {
            var camera = ScriptedCamera()
            camera.silent = [method]
            camera.play()
            camera.advance(.seconds(9))
            #expect(camera.failure == nil)
            camera.advance(.seconds(2))
            #expect(camera.failure?.code == .sourceUnreachable)
        }
        var stopped = ScriptedCamera()
        stopped.play()
        feed(&stopped, seconds: 20)
        stopped.advance(.seconds(11))
        #expect(stopped.failure?.message.contains("stopped sending") == true)
    }

    @Test("BYE for all tracks ends the session, after the packets that it overtook")
    func goodbye() {
        var camera = ScriptedCamera()
        camera.lines = ScriptedCamera.video
        camera.play()
        camera.sendPicture(0, timestamp: 0)
        for ssrc in [8, 7] as [UInt32] {
            var bytes = ByteBuffer()
            RTCPPacket.write(compound: [.goodbye(RTCPGoodbye(ssrcs: [ssrc]))], into: &bytes)
            camera.send(.frame(InterleavedFrame(channel: 1, payload: bytes)))
            #expect(camera.failure == nil)
        }
        camera.sendPicture(1, timestamp: 3_600)
        camera.advance(.seconds(1))
        #expect(camera.frames.count == 2 && camera.failure?.message.contains("ended") == true)
    }

    @Test("Pictures before the first key frame are left out")
    func keyFrame() {
        var camera = ScriptedCamera()
        camera.play()
        for number in 0..<6 as Range<UInt16> {
            camera.sendPicture(number, timestamp: UInt32(number) * 3_600, isKey: number == 3)
            camera.advance(.milliseconds(40))
        }
        camera.advance(.seconds(1))
        #expect(camera.frames.count == 3 && camera.frames.first?.isKeyFrame == true)
    }

    @Test("A camera that sends no key frame, or packets of which no frame comes, has an error after 10 s")
    func noFrame() {
        var camera = ScriptedCamera()
        camera.play()
        feed(&camera, seconds: 9, isKey: false)
        #expect(camera.failure == nil)
        feed(&camera, seconds: 2, isKey: false)
        #expect(camera.failure?.code == .sourceUnsupported && camera.failure?.message.contains("key frame") == true)

        // After the first frame: each packet continues the same picture, which never ends.
        var endless = ScriptedCamera()
        endless.play()
        endless.sendPicture(0, timestamp: 0)
        for number in 1..<13 as Range<UInt16> {
            var packet = ScriptedCamera.picture(number, timestamp: 3_600, isKey: false)
            packet.marker = false
            endless.sendRTP(packet, channel: 0)
            endless.advance(.seconds(1))
        }
        #expect(endless.failure?.message.contains("stopped sending") == true)
    }

    @Test("Sender reports give the camera's wall clock, and synchronize audio with video")
    func reports() throws {
        var camera = ScriptedCamera()
        camera.play()
        camera.sendPicture(0, timestamp: 1_000)
        func sendSound(_ number: UInt16, _ timestamp: UInt32) {
            camera.sendRTP(
                RTPPacket(
                    payloadType: 8, marker: false, sequenceNumber: number, timestamp: timestamp, ssrc: 9,
                    payload: ByteBuffer(bytes: [1, 2])), channel: 2)
        }
        sendSound(0, 8_000)
        #expect(camera.frames.map(\.pts) == [0, 0])
        // On the camera's clock, the audio is half a second later than the picture that arrived with it.
        camera.sendReport(ssrc: 7, ntp: 3_913_056_000, rtp: 1_000, channel: 1)
        camera.sendReport(ssrc: 9, ntp: 3_913_056_001, rtp: 12_000, channel: 3)
        sendSound(1, 8_160)
        #expect(camera.frames.last?.pts == 520_000)
        #expect(camera.client.cameraTime(at: 0) == 1_704_067_200_000_000)
    }

    @Test("An offset of less than 100 ms is corrected gradually, so that no sound is lost")
    func smallOffset() throws {
        var camera = ScriptedCamera()
        camera.play()
        camera.sendPicture(0, timestamp: 1_000)
        func sendSound(_ number: UInt16) {
            camera.sendRTP(
                RTPPacket(
                    payloadType: 8, marker: false, sequenceNumber: number, timestamp: 8_000 + UInt32(number) * 160,
                    ssrc: 9, payload: ByteBuffer(bytes: [1, 2])), channel: 2)
        }
        sendSound(0)
        // On the camera's clock, the audio is 64 ms earlier than the picture that arrived with it.
        camera.sendReport(ssrc: 7, ntp: 3_913_056_001, rtp: 91_000, channel: 1)
        camera.sendReport(ssrc: 9, ntp: 3_913_056_001, rtp: 16_512, channel: 3)
        for number in 1...100 as ClosedRange<UInt16> { sendSound(number) }
        let sound = camera.frames.filter { $0.kind == .audio }.map(\.pts)
        #expect(zip(sound, sound.dropFirst()).allSatisfy { (19_900...20_000).contains($1 - $0) })
        #expect(try #require(sound.last) == Int64(1_998_000))
    }

    @Test("If the clocks of the tracks drift apart, later sender reports keep audio and video together")
    func drift() throws {
        var camera = ScriptedCamera()
        camera.play()
        var (worst, steps): (Int64, [Int64]) = (0, [])
        var last: Int64?
        // The audio's clock is slow by 500 ppm: 0.3 s in these ten minutes.
        for tenth in 0..<6_000 as Range<UInt32> {
            camera.sendPicture(UInt16(truncatingIfNeeded: tenth), timestamp: tenth * 9_000, isKey: tenth == 0)
            let audio = UInt32(Double(tenth) * 800 * 0.9995)
            camera.sendRTP(
                RTPPacket(
                    payloadType: 8, marker: false, sequenceNumber: UInt16(truncatingIfNeeded: tenth), timestamp: audio,
                    ssrc: 9, payload: ByteBuffer(bytes: [1, 2])), channel: 2)
            if tenth % 50 == 0 {
                camera.sendReport(ssrc: 7, ntp: 3_913_056_000 + tenth / 10, rtp: tenth * 9_000, channel: 1)
                camera.sendReport(ssrc: 9, ntp: 3_913_056_000 + tenth / 10, rtp: audio, channel: 3)
            }
            let frame = try #require(camera.frames.last)
            #expect(frame.kind == .audio)
            worst = max(worst, abs(frame.pts - Int64(tenth) * 100_000))
            if let last { steps.append(frame.pts - last) }
            last = frame.pts
            camera.advance(.milliseconds(100))
        }
        #expect(worst < 10_000, "\(worst) µs")
        #expect(steps.allSatisfy { abs($0 - 100_000) < 500 })
    }

    @Test("An error message contains neither user name nor password")
    func secrets() {
        var camera = ScriptedCamera(credentials: Self.user, url: "rtsp://viewer:secret@192.0.2.7/front")
        camera.answer = { _, _ in RTSPResponse(.notFound) }
        camera.play()
        #expect(camera.failure?.message == "the camera has no stream at rtsp://192.0.2.7/front")
    }
}
