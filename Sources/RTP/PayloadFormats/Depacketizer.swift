public import IoTCore
public import NIOCore

/// Puts the frames of one RTP stream together again, from packets in sequence order.
public struct Depacketizer: Sendable {
    public enum Output: Sendable {
        case frame(ReceivedFrame)

        /// A frame that no gap explains could not be read and was dropped.
        case damaged
    }

    public let codec: RTPCodec
    private let clock: RTPClock
    private let kind: MediaKind
    private var assembler: Assembler

    private enum Assembler: Sendable {
        case video(VideoAssembler)
        case aac(AACAssembler)

        /// RFC 7587 §4.2: each payload is one Opus packet.
        case opus

        /// G.711: each payload is a frame.
        case plain
    }

    /// - Throws: `codecUnsupported` when the codec is not ours.
    public init(codec: RTPCodec) throws(IoTError) {
        self.codec = codec
        self.clock = RTPClock(rate: codec.clockRate)
        guard let format = codec.format else {
            throw IoTError(.codecUnsupported, "RTP payload format \(codec.encodingName) is not known")
        }
        kind = format.kind
        var parameterSets: [[UInt8]] = []
        if case .video(let video) = codec.trackParameters { parameterSets = video.parameterSets }
        switch format {
        case .h264: assembler = .video(VideoAssembler(codec: .h264, parameterSets: parameterSets))
        case .h265: assembler = .video(VideoAssembler(codec: .h265, parameterSets: parameterSets))
        case .aac: assembler = .aac(AACAssembler(codec: codec))
        case .opus: assembler = .opus
        case .pcmu, .pcma: assembler = .plain
        }
    }

    /// Takes the payload of the stream's next packet. Sound and picture come out whole, in the order of the packets;
    /// a key frame without parameter sets gets the last ones known in front.
    ///
    /// - Parameter timestamp: unwrapped, in ticks.
    public mutating func receive(
        _ payload: ByteBuffer, marker: Bool, timestamp: Int64, at arrival: NIODeadline
    ) -> [Output] {
        // Padding alone, as senders use it to probe the way.
        guard payload.readableBytes > 0 else { return [] }
        let packet = AssemblyPacket(payload: payload, marker: marker, timestamp: timestamp, arrival: arrival)
        switch assembler {
        case .video(var video):
            // Leaves the only reference to its buffer in `video`, so that appending does not copy.
            assembler = .plain
            defer { assembler = .video(video) }
            return video.receive(packet).map(output)
        case .aac(var aac):
            assembler = .plain
            defer { assembler = .aac(aac) }
            return aac.receive(packet).map(output)
        case .opus:
            guard OpusPacket(payload) != nil else { return [.damaged] }
            return [output(.frame(AssembledFrame(packet, bytes: payload)))]
        case .plain:
            return [output(.frame(AssembledFrame(packet, bytes: payload)))]
        }
    }

    /// Says that packets are missing before the next one: an unfinished frame is dropped, and so is the rest of one
    /// whose beginning is missing. Gives no `.damaged`.
    public mutating func skipGap() {
        switch assembler {
        case .video(var video):
            video.skipGap()
            assembler = .video(video)
        case .aac(var aac):
            aac.skipGap()
            assembler = .aac(aac)
        case .opus, .plain: break
        }
    }

    /// Whether decoding can begin with this payload: a key frame's parameter sets, or its first slice when parameter
    /// sets are known already. Always true for sound.
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
