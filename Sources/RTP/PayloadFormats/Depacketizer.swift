public import IoTCore
public import NIOCore

/// Reassembles the frames of one RTP stream from packets in sequence order.
public struct Depacketizer: Sendable {
    public enum Output: Sendable {
        case frame(ReceivedFrame)

        /// A frame was dropped because it could not be parsed, although no packet was missing.
        case damaged
    }

    public let codec: RTPCodec
    private let clock: RTPClock
    private let kind: MediaKind
    private var assembler: Assembler

    private enum Assembler: Sendable {
        case video(VideoAssembler)
        case aac(AACAssembler)
        case mpegAudio(MPEGAudioAssembler)

        /// RFC 7587 §4.2: each payload is one Opus packet.
        case opus

        /// G.711: each payload is one frame.
        case plain
    }

    /// - Throws: `codecUnsupported` if the codec's format is not supported.
    public init(codec: RTPCodec) throws(IoTError) {
        self.codec = codec
        self.clock = RTPClock(rate: codec.clockRate)
        guard let format = codec.format else {
            throw IoTError(.codecUnsupported, "the RTP payload format \(codec.encodingName) is not supported")
        }
        kind = format.kind
        var parameterSets: [[UInt8]] = []
        if case .video(let video) = codec.trackParameters { parameterSets = video.parameterSets }
        switch format {
        case .h264: assembler = .video(VideoAssembler(codec: .h264, parameterSets: parameterSets))
        case .h265: assembler = .video(VideoAssembler(codec: .h265, parameterSets: parameterSets))
        case .aac: assembler = .aac(AACAssembler(codec: codec))
        case .mpegAudio: assembler = .mpegAudio(MPEGAudioAssembler(clockRate: codec.clockRate))
        case .opus: assembler = .opus
        case .pcmu, .pcma: assembler = .plain
        }
    }

    /// Takes the payload of the stream's next packet and returns the frames that it completes, in packet order. A key
    /// frame without parameter sets is prefixed with the last known ones.
    ///
    /// - Parameter timestamp: unwrapped, in ticks.
    public mutating func receive(
        _ payload: ByteBuffer, marker: Bool, timestamp: Int64, at arrival: NIODeadline
    ) -> [Output] {
        // Senders probe the path with packets that hold only padding.
        guard payload.readableBytes > 0 else { return [] }
        let packet = AssemblyPacket(payload: payload, marker: marker, timestamp: timestamp, arrival: arrival)
        switch assembler {
        case .video(var video):
            // `video` now has the only reference to its buffer, so that appending does not copy.
            assembler = .plain
            defer { assembler = .video(video) }
            return video.receive(packet).map(output)
        case .aac(var aac):
            assembler = .plain
            defer { assembler = .aac(aac) }
            return aac.receive(packet).map(output)
        case .mpegAudio(var audio):
            assembler = .plain
            defer { assembler = .mpegAudio(audio) }
            return audio.receive(packet).map(output)
        case .opus:
            guard OpusPacket(payload) != nil else { return [.damaged] }
            return [output(.frame(AssembledFrame(packet, bytes: payload)))]
        case .plain:
            return [output(.frame(AssembledFrame(packet, bytes: payload)))]
        }
    }

    /// Reports that packets are missing before the next one. An unfinished frame is dropped, and so are the remaining
    /// packets of a frame without its beginning. No `.damaged` is returned for them.
    public mutating func skipGap() {
        switch assembler {
        case .video(var video):
            video.skipGap()
            assembler = .video(video)
        case .aac(var aac):
            aac.skipGap()
            assembler = .aac(aac)
        case .mpegAudio(var audio):
            audio.skipGap()
            assembler = .mpegAudio(audio)
        case .opus, .plain: break
        }
    }

    /// Whether decoding can begin with this payload: parameter sets of a key frame, or its first slice if parameter
    /// sets are already known. Always true for audio.
    public func isDecodingStart(_ payload: ByteBuffer) -> Bool {
        if case .video(let video) = assembler { video.isDecodingStart(payload) } else { true }
    }

    private func output(_ assembly: AssemblyOutput) -> Output {
        guard case .frame(let assembled) = assembly else { return .damaged }
        let pts = clock.microseconds(ofTicks: assembled.timestamp)
        return .frame(
            ReceivedFrame(
                frame: MediaFrame(
                    kind: kind, isKeyFrame: assembled.isKeyFrame, pts: pts, dts: pts, bytes: assembled.bytes),
                rtpTimestamp: assembled.timestamp, firstArrival: assembled.firstArrival,
                lastArrival: assembled.lastArrival))
    }
}
