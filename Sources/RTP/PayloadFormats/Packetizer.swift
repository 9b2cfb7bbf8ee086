public import IoTCore
import NIOCore

/// Splits a track's frames into RTP payloads, once for all viewers.
public struct Packetizer: Sendable {
    public let codec: RTPCodec

    /// The maximum size of an RTP payload in bytes. With the RTP header and SRTP tag, the default keeps datagrams below
    /// 1200.
    public let maximumPayloadSize: Int

    private let clock: RTPClock
    private var nextSequence: Int64 = 0

    /// - Parameter maximumPayloadSize: at least 64.
    public init(codec: RTPCodec, maximumPayloadSize: Int = 1_100) {
        precondition(maximumPayloadSize >= 64)
        self.codec = codec
        self.maximumPayloadSize = maximumPayloadSize
        self.clock = RTPClock(rate: codec.clockRate)
    }

    /// The frame's packets, in order.
    ///
    /// - Throws: `codecUnsupported` if the codec's format is not supported or is MPEG audio; `invalidParameter` if the
    ///   frame's kind is not the track's; `mediaFailed` if the frame is empty or the format cannot carry it: AAC over 8191
    ///   bytes; Opus, or an H.264 NAL unit in packetization mode 0, over `maximumPayloadSize`.
    public mutating func packetize(_ frame: MediaFrame) throws(IoTError) -> [MediaPacket] {
        guard let format = codec.format else {
            throw IoTError(.codecUnsupported, "the RTP payload format \(codec.encodingName) is not supported")
        }
        guard frame.kind == format.kind else {
            throw IoTError(
                .invalidParameter,
                "a frame of kind \(frame.kind) cannot be sent on an RTP track of kind \(format.kind)")
        }
        let payloads: [ByteBuffer]
        switch format {
        case .h264 where codec.packetizationMode == "0":
            payloads = try NALUnitPacketizer(codec: .h264, maximumPayloadSize: maximumPayloadSize)
                .singleUnitPayloads(of: frame)
        case .h264:
            payloads = NALUnitPacketizer(codec: .h264, maximumPayloadSize: maximumPayloadSize).payloads(of: frame)
        case .h265:
            payloads = NALUnitPacketizer(codec: .h265, maximumPayloadSize: maximumPayloadSize).payloads(of: frame)
        case .aac: payloads = try AACPacketizer(maximumPayloadSize: maximumPayloadSize).payloads(of: frame)
        case .pcmu, .pcma: return try samplePackets(of: frame)
        case .opus:
            // RFC 7587 §4.2: each payload is one whole Opus packet.
            guard frame.bytes.readableBytes <= maximumPayloadSize else {
                throw IoTError(.mediaFailed, "an Opus packet of \(frame.bytes.readableBytes) bytes is too long")
            }
            payloads = frame.bytes.readableBytes > 0 ? [frame.bytes] : []
        case .mpegAudio: throw IoTError(.codecUnsupported, "MPEG audio cannot be sent over RTP")
        }
        guard !payloads.isEmpty else { throw IoTError(.mediaFailed, "a media frame is empty") }

        let timestamp = UInt32(truncatingIfNeeded: clock.ticks(ofMicroseconds: frame.pts))
        // RFC 6184 §5.1, RFC 7798 §4.1, RFC 3640 §3.1: the marker is set on the last packet of an access unit. RFC 7587
        // §4.1: for Opus it is set on the first packet of a talk spurt.
        let marksEnd = format != .opus
        return payloads.enumerated().map { index, payload in
            next(
                payload, marker: marksEnd ? index == payloads.count - 1 : frame.isDiscontinuity,
                timestamp: timestamp, pts: frame.pts,
                isKeyFrameStart: index == 0 && frame.isKeyFrame && frame.kind == .video)
        }
    }

    /// G.711 (RFC 3551 §4.5.14): one byte per sample, channels interleaved. A long frame is split between samples.
    private mutating func samplePackets(of frame: MediaFrame) throws(IoTError) -> [MediaPacket] {
        let width = max(codec.channels, 1)
        let limit = max(maximumPayloadSize / width, 1) * width
        var packets: [MediaPacket] = []
        var rest = frame.bytes
        let start = clock.ticks(ofMicroseconds: frame.pts)
        var offset: Int64 = 0
        while rest.readableBytes > 0, let payload = rest.readSlice(length: min(limit, rest.readableBytes)) {
            packets.append(
                next(
                    payload, marker: frame.isDiscontinuity && packets.isEmpty,
                    timestamp: UInt32(truncatingIfNeeded: start &+ offset),
                    pts: frame.pts &+ clock.microseconds(ofTicks: offset), isKeyFrameStart: false))
            offset += Int64(payload.readableBytes / width)
        }
        guard !packets.isEmpty else { throw IoTError(.mediaFailed, "a media frame is empty") }
        return packets
    }

    private mutating func next(
        _ payload: ByteBuffer, marker: Bool, timestamp: UInt32, pts: Int64, isKeyFrameStart: Bool
    ) -> MediaPacket {
        defer { nextSequence += 1 }
        return MediaPacket(
            payload: payload, marker: marker, timestamp: timestamp, sequence: nextSequence,
            isKeyFrameStart: isKeyFrameStart, pts: pts)
    }
}
