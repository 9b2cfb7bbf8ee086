import IoTCore
import NIOCore
import RTP

extension RTSPClient {
    mutating func receive(_ response: RTSPResponse, at now: NIODeadline) {
        guard let pending else { return }
        // A response to an older request is ignored. A response without CSeq can only be to this request.
        if let cseq = response.headers.cseq, cseq != pending.cseq { return }
        self.pending = nil
        if response.status == .unauthorized {
            return challenged(response, pending)
        }
        if pending.wasAuthorized { authentication.succeeded() }
        if response.status.isRedirection, state != .playing { return redirect(response) }
        switch state {
        case .describing: described(response)
        case .settingUp(let track): wasSetUp(track, response, at: now)
        case .starting: started(response, at: now)
        case .playing where pending.request.method == .play: _ = checked(response, "PLAY")
        case .playing: keptAlive(response, pending.request.method)
        case .idle, .connecting, .openingPorts, .ended: break
        }
    }

    private mutating func challenged(_ response: RTSPResponse, _ pending: Pending) {
        guard authentication.takeChallenges(response.headers.challenges, wasAuthorized: pending.wasAuthorized) else {
            // A refused keep-alive does not end the session. If the camera stops sending, `readTimeout` ends it.
            if state == .playing, pending.request.method != .play { return }
            return fail(
                authentication.lacksCredentials
                    ? IoTError(
                        .sourceRefused, "the camera refused the user name or password: none is configured",
                        remedy: "give the camera's `username` and `passwordFile`")
                    : IoTError(.sourceRefused, "the camera refused the user name or password"))
        }
        send(pending.request)
    }

    // MARK: DESCRIBE

    mutating func describe() {
        state = .describing
        send(request(.describe, url.text, [RTSPHeaderName.accept: "application/sdp"]))
    }

    private mutating func described(_ response: RTSPResponse) {
        guard checked(response, "DESCRIBE") else { return }
        let base = ControlURL.base(of: response.headers, requested: url.text)
        let stream: StreamDescription
        do throws(IoTError) {
            stream = try StreamDescription(parsing: String(buffer: response.body))
        } catch {
            return fail(error)
        }
        aggregate = ControlURL.resolve(stream.control, base: base)
        guard configuration.purpose == .reading else { return chooseBackChannel(stream, base: base) }
        choose(stream, base: base)
        guard !needsOtherReader(stream) else {
            return fail(
                IoTError(
                    .sourceUnsupported, "the client does not read \(unsupported.joined(separator: ", "))",
                    underlying: OtherReaderNeeded()))
        }
        guard !tracks.isEmpty else {
            let found = unsupported.isEmpty ? "no track" : unsupported.joined(separator: ", ")
            return fail(
                IoTError(.sourceUnsupported, "the camera has \(found); it needs H.264, H.265, AAC, G.711, Opus or MP3"))
        }
        prepare(0)
    }

    /// Chooses the first video track and the first audio track that can be read.
    private mutating func choose(_ stream: StreamDescription, base: String) {
        (tracks, unsupported) = ([], [])
        for description in stream.tracks where description.kind != nil {
            let ssrc = UInt32(truncatingIfNeeded: randomNumber())
            let track = ClientTrack(description, base: base, localSSRC: ssrc, isReliable: transport == .tcp)
            guard let track else {
                unsupported.append(description.name)
                continue
            }
            if !tracks.contains(where: { $0.kind == track.kind }) { tracks.append(track) }
        }
    }

    private func needsOtherReader(_ stream: StreamDescription) -> Bool {
        // The other reader checks no certificate.
        url.scheme == "rtsp"
            && stream.tracks.contains { description in
                guard let kind = description.kind, let codec = description.codec,
                    !tracks.contains(where: { $0.kind == kind })
                else { return false }
                return configuration.codecsOfOtherReader[kind]?.contains(codec.encodingName.lowercased()) == true
            }
    }

    // MARK: SETUP

    mutating func prepare(_ track: Int) {
        guard transport == .udp else {
            let channel = UInt8(truncatingIfNeeded: track * 2)
            return setUp(track, TransportHeader(.tcp, interleaved: .init(channel, channel + 1)))
        }
        state = .openingPorts(track)
        outputs.append(.openPorts(track: track))
    }

    mutating func setUp(_ track: Int, _ transport: TransportHeader) {
        guard urls.indices.contains(track) else { return }
        state = .settingUp(track)
        if let pair = transport.interleaved { assign(pair, to: track) }
        send(request(.setup, urls[track], [RTSPHeaderName.transport: transport.text]))
    }

    /// The URLs of the tracks to set up.
    private var urls: [String] { backChannel.map { [$0.url] } ?? tracks.map(\.url) }

    private mutating func assign(_ pair: TransportHeader.Pair<UInt8>, to track: Int) {
        channels = channels.filter { $0.value.track != track }
        channels[pair.rtp] = (track, false)
        if pair.rtcp != pair.rtp { channels[pair.rtcp] = (track, true) }
    }

    private mutating func wasSetUp(_ track: Int, _ response: RTSPResponse, at now: NIODeadline) {
        if response.status == .unsupportedTransport, !hasChangedTransport {
            if transport == .udp { return fallBackToTCP(at: now) }
            // A camera that sends over TCP may receive only over UDP, which would not be encrypted with rtsps://.
            if backChannel != nil, url.scheme == "rtsp" {
                hasChangedTransport = true
                transport = .udp
                return prepare(track)
            }
        }
        guard checked(response, "SETUP") else { return }
        // Quirk 13: some cameras change the identifier with each SETUP (scottlamb/retina v0.4.6). The last is valid.
        if let session = response.headers.session { self.session = session }
        let answer = response.headers.transports.first
        if transport == .tcp {
            if answer?.lowerTransport == .udp, answer?.interleaved == nil {
                return fail(IoTError(.sourceUnsupported, "the camera does not send over its RTSP connection"))
            }
            if let pair = answer?.interleaved { assign(pair, to: track) }
        } else {
            guard answer?.lowerTransport != .tcp, answer?.isMulticast != true else { return fallBackToTCP(at: now) }
            serverPorts[track] = answer?.serverPorts
        }
        if track + 1 < urls.count { prepare(track + 1) } else { play() }
    }

    // MARK: PLAY

    private mutating func play() {
        state = .starting
        send(request(.play, aggregate, [RTSPHeaderName.range: "npt=0.000-"]))
    }

    private mutating func started(_ response: RTSPResponse, at now: NIODeadline) {
        guard checked(response, "PLAY") else { return }
        begin(at: now)
    }

    /// Starts playing: reports the tracks and opens the paths for UDP.
    mutating func begin(at now: NIODeadline) {
        if let backChannel { return beginBackChannel(backChannel, at: now) }
        state = .playing
        lastMedia = now
        firstFrameDeadline = now + configuration.firstFrameTimeout
        nextKeepAlive = now + keepAliveInterval
        var (video, audio): (VideoParameters?, CameraSound?)
        for track in tracks {
            switch track.parameters {
            case .video(let parameters):
                video = parameters
                video?.frameRate = track.description.frameRate ?? 0
            case .audio(let parameters): audio = .coded(parameters)
            case nil: audio = .mpeg
            }
        }
        outputs.append(.opened(video: video, audio: audio, unsupported: unsupported))
        guard transport == .udp else { return }
        firstDatagramDeadline = now + configuration.firstDatagramTimeout
        for track in tracks.indices { openPath(track) }
    }

    /// Sends a datagram from both ports, so that a router with address translation lets the camera's packets in.
    private mutating func openPath(_ track: Int) {
        guard let ports = serverPorts[track] else { return }
        let ssrc = tracks[track].receiver.configuration.localSSRC
        var packet = ByteBuffer()
        RTPPacket(payloadType: 0, marker: false, sequenceNumber: 0, timestamp: 0, ssrc: ssrc, payload: ByteBuffer())
            .write(into: &packet)
        outputs.append(.datagram(packet, track: track, isControl: false, port: ports.rtp))
        var report = ByteBuffer()
        RTCPPacket.write(compound: [.receiverReport(RTCPReceiverReport(ssrc: ssrc))], into: &report)
        outputs.append(.datagram(report, track: track, isControl: true, port: ports.rtcp))
    }

    // MARK: Keep-alive

    /// Half the session's time-out (RFC 2326 §12.37), and at most 30 s.
    var keepAliveInterval: TimeAmount {
        .seconds(Int64(max(1, min(30, (session?.timeout ?? SessionHeader.defaultTimeout) / 2))))
    }

    /// Quirk 14: some servers close the connection after a method that they do not support (scottlamb/retina v0.4.1).
    /// OPTIONS, which every server supports, is used until a response names GET_PARAMETER.
    mutating func keepAlive(at now: NIODeadline) {
        nextKeepAlive = now + keepAliveInterval
        // Quirk 15: some cameras never answer keep-alives (bluenviron/gortsplib, `doKeepAlive`), so none is awaited.
        send(request(keepAliveMethod, aggregate))
    }

    private mutating func keptAlive(_ response: RTSPResponse, _ method: RTSPMethod) {
        if method == .options, response.headers.publicMethods?.contains(.getParameter) == true {
            keepAliveMethod = .getParameter
        } else if method == .getParameter, !response.status.isSuccess {
            keepAliveMethod = .options
        }
        if response.status == .sessionNotFound {
            fail(IoTError(.sourceUnreachable, "the camera has ended the session"))
        }
    }

    // MARK: Failures

    /// False after a failure.
    private mutating func checked(_ response: RTSPResponse, _ method: String) -> Bool {
        if !response.status.isSuccess, let refusal = backChannelRefusal(response, method) {
            fail(refusal)
            return false
        }
        switch response.status {
        case let status where status.isSuccess: return true
        case .notFound:
            fail(IoTError(.sourceNotFound, "the camera has no stream at \(url.text)"))
        case .forbidden:
            fail(IoTError(.sourceRefused, "the camera forbids \(method)"))
        case let status:
            fail(IoTError(.sourceUnreachable, "the camera answered \(method) with \(status)"))
        }
        return false
    }
}
