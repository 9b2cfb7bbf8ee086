import IoTCore
package import NIOCore
import RTP

/// The session that sends sound to a camera (ONVIF Streaming §5.3). It has the same requests as a session that reads,
/// but sets up only the back channel.
extension RTSPClient {
    mutating func chooseBackChannel(_ stream: StreamDescription, base: String) {
        let sections = stream.backChannels
        guard !sections.isEmpty else {
            return fail(IoTError(.backChannelMissing, "the camera's session description has no back channel"))
        }
        for section in sections {
            guard let format = BackChannelFormat.best(section.codecs) else { continue }
            backChannel = BackChannelTrack(
                url: ControlURL.resolve(section.control, base: base), format: format,
                profile: BackChannelProfile(format, tool: stream.tool), random: randomNumber())
            return prepare(0)
        }
        let offered = Set(sections.flatMap(\.codecs).map(\.rtpmap)).sorted().joined(separator: ", ")
        fail(
            IoTError(
                .sourceUnsupported, "the camera's back channel accepts only \(offered)",
                remedy: "set the sound of the camera's back channel to G.711 or AAC"))
    }

    /// The error for a refused request of a session with a back channel; `nil` if it is the same as without one.
    func backChannelRefusal(_ response: RTSPResponse, _ method: String) -> IoTError? {
        guard configuration.purpose == .backChannel else { return nil }
        switch (method, response.status) {
        case (_, .notFound), (_, .forbidden), (_, .unsupportedTransport): return nil
        // RFC 2326 §12.32 requires 551; some cameras refuse an option that they do not know with another status.
        case ("DESCRIBE", .optionNotSupported), ("DESCRIBE", .badRequest), ("DESCRIBE", .notImplemented):
            return IoTError(
                .backChannelMissing, "the camera does not support a back channel: \(response.status)")
        case ("DESCRIBE", _): return nil
        default:
            // Quirk 21: some Dahua and Amcrest cameras refuse a second back channel (AlexxIT/go2rtc,
            // `pkg/rtsp/client.go`).
            return IoTError(
                .sourceBusy, "the camera refused the back channel: \(method), \(response.status)",
                remedy: "end the other talk with this camera, for example in its own app, and try again")
        }
    }

    mutating func beginBackChannel(_ track: BackChannelTrack, at now: NIODeadline) {
        guard transport == .tcp || serverPorts[0] != nil else {
            return fail(IoTError(.sourceUnsupported, "the camera names no UDP port for its back channel"))
        }
        state = .playing
        nextKeepAlive = now + keepAliveInterval
        outputs.append(.backChannelOpened(track.format, track.profile))
    }

    /// Sends one packet of sound: G.711, or one access unit of AAC. Ignored before `backChannelOpened`.
    ///
    /// - Parameter sampleCount: Samples of each channel. The RTP clock advances by it.
    package mutating func send(sound: ByteBuffer, sampleCount: Int, at now: NIODeadline) {
        guard state == .playing, backChannel != nil else { return }
        let wallClock = wallClock(at: now)
        for packet in backChannel?.packets(sound, sampleCount: sampleCount, at: now, wallClock: wallClock) ?? [] {
            sendPacket(packet, isControl: false)
        }
        reportBackChannel(at: now)
    }

    mutating func reportBackChannel(at now: NIODeadline) {
        let wallClock = wallClock(at: now)
        guard let report = backChannel?.report(at: now, wallClock: wallClock) else { return }
        sendPacket(report, isControl: true)
    }

    private mutating func sendPacket(_ packet: ByteBuffer, isControl: Bool) {
        if transport == .udp {
            guard let ports = serverPorts[0] else { return }
            outputs.append(
                .datagram(packet, track: 0, isControl: isControl, port: isControl ? ports.rtcp : ports.rtp))
        } else if let channel = channels.first(where: { $0.value == (0, isControl) })?.key {
            var framed = ByteBuffer()
            InterleavedFrame(channel: channel, payload: packet).write(into: &framed)
            outputs.append(.packet(framed))
        }
    }

    /// In virtual time too, the wall clock advances like the client's clock.
    private func wallClock(at now: NIODeadline) -> Int64 { wallClockAtStart + (now - epoch).nanoseconds / 1_000 }

    var backChannelDeadline: NIODeadline { min(nextKeepAlive, backChannel?.reportDeadline ?? .distantFuture) }
}
