extension RTPCodec {
    /// The retransmission codec for a payload type (RFC 4588 §8.1).
    public static func retransmission(of codec: RTPCodec, payloadType: UInt8) -> RTPCodec {
        RTPCodec(
            payloadType: payloadType, encodingName: "rtx", clockRate: codec.clockRate,
            formatParameters: ["apt": String(codec.payloadType)])
    }

    public var isRetransmission: Bool { encodingName.lowercased() == "rtx" }

    /// The payload type whose packets this codec retransmits; `nil` if this is not a retransmission codec.
    public var associatedPayloadType: UInt8? {
        guard isRetransmission else { return nil }
        return formatParameters["apt"].flatMap { UInt8($0) }.flatMap { $0 < 128 ? $0 : nil }
    }
}

extension [RTPCodec] {
    /// The retransmission codec of a payload type.
    package func retransmission(of payloadType: UInt8) -> RTPCodec? {
        first { $0.associatedPayloadType == payloadType }
    }
}
