import IoTCore
package import NIOCore
import RTP

extension RTSPClient {
    /// Call this for each datagram to one of a track's two ports.
    package mutating func receive(datagram: ByteBuffer, track: Int, isControl: Bool, at now: NIODeadline) {
        guard state != .ended else { return }
        receive(datagram, track: track, isControl: isControl, at: now)
    }

    mutating func receive(_ packet: ByteBuffer, track: Int, isControl: Bool, at now: NIODeadline) {
        guard tracks.indices.contains(track) else { return }
        let media = isControl ? nil : try? RTPPacket(parsing: packet)
        let isOfTrack = media.map { tracks[track].hasPayloadType(of: $0) } ?? false
        // Some cameras send media before they answer PLAY. That answer is still awaited, because it may be an error.
        if state == .starting, isOfTrack { begin(at: now) }
        guard state == .playing else { return }
        if isControl {
            receiveControl(packet, track: track, at: now)
        } else if let packet = media, isOfTrack {
            // Later, only frames count: packets of pictures that never end are of no use.
            if firstFrameDeadline != nil { lastMedia = now }
            firstDatagramDeadline = nil
            // Another source may continue the stream after a BYE.
            if endDeadline == nil { tracks[track].hasEnded = false }
            tracks[track].receiver.handle(packet, at: now)
        }
        drain(track, at: now)
    }

    private mutating func receiveControl(_ packet: ByteBuffer, track: Int, at now: NIODeadline) {
        for packet in (try? RTCPPacket.parseCompound(packet)) ?? [] {
            switch packet {
            case .senderReport(let report):
                tracks[track].take(report, at: now)
                synchronize(afterReportOf: track)
            case .goodbye(let goodbye):
                guard let source = tracks[track].receiver.remoteSSRC, goodbye.ssrcs.contains(source) else { continue }
                tracks[track].hasEnded = true
                if tracks.allSatisfy(\.hasEnded) { endDeadline = now + Self.endDelay }
            default: break
            }
        }
    }

    /// How long packets are accepted after the last BYE, because UDP may reorder them.
    private static let endDelay = TimeAmount.milliseconds(500)

    private mutating func drain(_ track: Int, at now: NIODeadline) {
        while let output = tracks[track].receiver.poll() {
            switch output {
            case .frame(let received):
                lastMedia = now
                guard let frame = tracks[track].place(received, epoch: epoch) else { continue }
                if tracks[track].wallClockOffset == nil { isSynchronized = false }
                if frame.kind == .video || !hasVideo { firstFrameDeadline = nil }
                outputs.append(.frame(frame))
            case .frameLost: break
            case .rtcp(let packets): sendControl(packets, track: track)
            case .timeout: return
            }
        }
    }

    private var hasVideo: Bool { tracks.contains { $0.kind == .video } }

    private mutating func sendControl(_ packets: [RTCPPacket], track: Int) {
        var buffer = ByteBuffer()
        RTCPPacket.write(compound: packets, into: &buffer)
        if transport == .udp {
            guard let ports = serverPorts[track] else { return }
            outputs.append(.datagram(buffer, track: track, isControl: true, port: ports.rtcp))
        } else if let channel = channels.first(where: { $0.value == (track, true) })?.key {
            var framed = ByteBuffer()
            InterleavedFrame(channel: channel, payload: buffer).write(into: &framed)
            outputs.append(.send(framed))
        }
    }

    // MARK: Time

    var deadline: NIODeadline {
        guard state == .playing else { return openDeadline }
        guard backChannel == nil else { return backChannelDeadline }
        var deadline = min(lastMedia + configuration.readTimeout, nextKeepAlive)
        if let firstDatagramDeadline { deadline = min(deadline, firstDatagramDeadline) }
        if let firstFrameDeadline { deadline = min(deadline, firstFrameDeadline) }
        if let endDeadline { deadline = min(deadline, endDeadline) }
        for track in tracks {
            if let next = track.receiver.deadline { deadline = min(deadline, next) }
        }
        return deadline
    }

    /// Call this when reading resumes. Until now nothing was read, so the camera's silence does not count.
    package mutating func resumed(at now: NIODeadline) { lastMedia = now }

    /// Handles all deadlines that have passed.
    package mutating func handleTimeout(at now: NIODeadline) {
        switch state {
        case .idle, .ended: return
        case .playing: break
        default:
            if now >= openDeadline { fail(IoTError(.sourceUnreachable, "the camera did not answer in time")) }
            return
        }
        guard backChannel == nil else {
            if now >= nextKeepAlive { keepAlive(at: now) }
            return reportBackChannel(at: now)
        }
        if let limit = firstDatagramDeadline, now >= limit { return fallBackToTCP(at: now) }
        if let endDeadline, now >= endDeadline {
            return fail(IoTError(.sourceUnreachable, "the camera ended its stream"))
        }
        guard now < lastMedia + configuration.readTimeout else {
            return fail(IoTError(.sourceUnreachable, "the camera stopped sending"))
        }
        if let firstFrameDeadline, now >= firstFrameDeadline { return failWithoutFrame() }
        if now >= nextKeepAlive { keepAlive(at: now) }
        for track in tracks.indices {
            tracks[track].receiver.handleTimeout(at: now)
            drain(track, at: now)
        }
    }

    private mutating func failWithoutFrame() {
        let seconds = configuration.firstFrameTimeout.nanoseconds / 1_000_000_000
        fail(
            hasVideo
                ? IoTError(
                    .sourceUnsupported, "the camera sent no key frame within \(seconds) s",
                    remedy: "set a shorter interval of key frames in the camera")
                : IoTError(.sourceUnsupported, "the camera sent no complete frame within \(seconds) s"))
    }
}
