import IoTCore
import NIOCore
import RTP

/// The track that a client sends: makes RTP packets with a continuous clock, and sender reports.
struct BackChannelTrack: Sendable {
    let url: String
    let format: BackChannelFormat
    let profile: BackChannelProfile
    private var sender: RTPSender
    private var sequence: Int64 = 0
    /// The RTP time of the next sample, without the sender's offset.
    private var ticks: Int64 = 0
    private var anchor: MediaClockAnchor?

    /// Keeps packets below the size of an Ethernet frame, except those of a profile.
    private static let maximumPayloadSize = 1_400

    init(url: String, format: BackChannelFormat, profile: BackChannelProfile, random: UInt64) {
        self.url = url
        self.format = format
        self.profile = profile
        sender = RTPSender(
            codec: format.rtpCodec, ssrc: UInt32(truncatingIfNeeded: random),
            canonicalName: RTSPClientConfiguration.userAgent,
            initialSequenceNumber: UInt16(truncatingIfNeeded: random >> 32) & 0x7FFF,
            timestampOffset: profile.hasZeroTimestamps ? 0 : UInt32(truncatingIfNeeded: random >> 24))
    }

    /// The RTP packets of one packet of G.711, or of one access unit of AAC.
    ///
    /// - Parameter wallClock: µs since 1970.
    mutating func packets(
        _ sound: ByteBuffer, sampleCount: Int, at now: NIODeadline, wallClock: Int64
    ) -> [ByteBuffer] {
        let time = ticks * 1_000_000 / Int64(format.sampleRate)
        if anchor == nil { anchor = MediaClockAnchor(pts: time, wallClock: wallClock) }
        var payloads = [sound]
        if format.codec == .aac {
            let frame = MediaFrame(kind: .audio, isKeyFrame: true, pts: time, dts: time, bytes: sound)
            payloads = (try? AACPacketizer(maximumPayloadSize: Self.maximumPayloadSize).payloads(of: frame)) ?? []
        }
        let timestamp = profile.hasZeroTimestamps ? 0 : UInt32(truncatingIfNeeded: ticks)
        ticks += Int64(sampleCount)
        return payloads.enumerated().map { index, payload in
            // The last packet of an access unit has the marker (RFC 3640 §3.1).
            let marker =
                format.codec == .aac
                ? index == payloads.count - 1 : profile.marksEveryPacket || sequence == 0
            let packet = MediaPacket(
                payload: payload, marker: marker, timestamp: timestamp, sequence: sequence, isKeyFrameStart: false,
                pts: time)
            sequence += 1
            var bytes = ByteBuffer()
            sender.write(packet, into: &bytes, at: now)
            return bytes
        }
    }

    /// When the next report is due; `nil` before the first packet, and without reports.
    var reportDeadline: NIODeadline? { profile.hasZeroTimestamps ? nil : sender.reportDeadline }

    /// The report that is due.
    mutating func report(at now: NIODeadline, wallClock: Int64) -> ByteBuffer? {
        guard let reportDeadline, now >= reportDeadline, let anchor,
            let packets = sender.report(at: now, wallClock: wallClock, anchor: anchor)
        else { return nil }
        var bytes = ByteBuffer()
        RTCPPacket.write(compound: packets, into: &bytes)
        return bytes
    }
}
