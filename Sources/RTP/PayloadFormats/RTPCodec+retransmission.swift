extension RTPCodec {
    /// The stream of repairs for another payload type (RFC 4588 §8.1).
    public static func retransmission(of codec: RTPCodec, payloadType: UInt8) -> RTPCodec {
        RTPCodec(
            payloadType: payloadType, encodingName: "rtx", clockRate: codec.clockRate,
            formatParameters: ["apt": String(codec.payloadType)])
    }

    public var isRetransmission: Bool { encodingName.lowercased() == "rtx" }

    /// The payload type that this one repairs; `nil` for a codec that is no stream of repairs.
    public var associatedPayloadType: UInt8? {
        guard isRetransmission else { return nil }
        return formatParameters["apt"].flatMap { UInt8($0) }.flatMap { $0 < 128 ? $0 : nil }
    }
}

extension [RTPCodec] {
    /// The entry that repairs a payload type.
    package func retransmission(of payloadType: UInt8) -> RTPCodec? {
        first { $0.associatedPayloadType == payloadType }
    }
}
