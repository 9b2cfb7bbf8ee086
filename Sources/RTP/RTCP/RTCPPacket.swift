public import NIOCore

/// One RTCP packet. Types that the product does not use are kept as bytes.
public enum RTCPPacket: Sendable, Hashable {
    case senderReport(RTCPSenderReport)
    case receiverReport(RTCPReceiverReport)
    case sourceDescription(RTCPSourceDescription)
    case goodbye(RTCPGoodbye)
    case genericNACK(RTCPGenericNACK)
    case pictureLossIndication(RTCPPictureLossIndication)
    case fullIntraRequest(RTCPFullIntraRequest)
    case receiverEstimate(RTCPReceiverEstimate)
    case transportWideFeedback(RTCPTransportWideFeedback)
    case other(RTCPOtherPacket)
}

extension RTCPPacket {
    /// Whether a datagram on a port that RTP and RTCP share is RTCP: packet types 192–223 (RFC 5761 §4).
    @inlinable
    public static func isRTCP(_ datagram: ByteBuffer) -> Bool {
        guard let type = datagram.getInteger(at: datagram.readerIndex + 1, as: UInt8.self) else { return false }
        return (192...223).contains(type)
    }
}

/// The reception quality of one source, reported by its receiver (RFC 3550 §6.4.1).
public struct RTCPReceptionReport: Sendable, Hashable {
    public var ssrc: UInt32

    /// The share of the expected packets lost since the last report, in 1/256.
    public var fractionLost: UInt8

    /// Packets lost since the beginning, −2²³ to 2²³−1; negative if duplicates outnumber the losses.
    public var cumulativeLost: Int32

    /// The highest sequence number received, extended by the number of wraps.
    public var highestSequence: UInt32

    /// Interarrival jitter in RTP ticks.
    public var jitter: UInt32

    /// The middle 32 bits of the NTP time in the last sender report; 0 before the first.
    public var lastSenderReport: UInt32

    /// The time since that report arrived, in 1/65536 s.
    public var delaySinceLastSenderReport: UInt32

    public init(
        ssrc: UInt32, fractionLost: UInt8, cumulativeLost: Int32, highestSequence: UInt32, jitter: UInt32,
        lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.highestSequence = highestSequence
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }
}

/// SR (RFC 3550 §6.4.1).
public struct RTCPSenderReport: Sendable, Hashable {
    public var ssrc: UInt32

    /// 64-bit NTP time.
    public var ntpTimestamp: UInt64

    /// The same instant on the stream's RTP clock, including its random offset.
    public var rtpTimestamp: UInt32

    public var packetCount: UInt32
    public var octetCount: UInt32

    /// At most 31.
    public var reports: [RTCPReceptionReport]

    public init(
        ssrc: UInt32, ntpTimestamp: UInt64, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32,
        reports: [RTCPReceptionReport] = []
    ) {
        self.ssrc = ssrc
        self.ntpTimestamp = ntpTimestamp
        self.rtpTimestamp = rtpTimestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
        self.reports = reports
    }
}

/// RR (RFC 3550 §6.4.2).
public struct RTCPReceiverReport: Sendable, Hashable {
    public var ssrc: UInt32

    /// At most 31.
    public var reports: [RTCPReceptionReport]

    public init(ssrc: UInt32, reports: [RTCPReceptionReport] = []) {
        self.ssrc = ssrc
        self.reports = reports
    }
}

/// SDES (RFC 3550 §6.5); only the canonical name is kept.
public struct RTCPSourceDescription: Sendable, Hashable {
    public struct Chunk: Sendable, Hashable {
        public var ssrc: UInt32

        /// At most 255 bytes of UTF-8; empty when the chunk has none.
        public var canonicalName: String

        public init(ssrc: UInt32, canonicalName: String) {
            self.ssrc = ssrc
            self.canonicalName = canonicalName
        }
    }

    /// At most 31.
    public var chunks: [Chunk]

    public init(chunks: [Chunk]) {
        self.chunks = chunks
    }
}

/// BYE (RFC 3550 §6.6).
public struct RTCPGoodbye: Sendable, Hashable {
    /// At most 31.
    public var ssrcs: [UInt32]

    /// At most 255 bytes of UTF-8; empty if there is no reason.
    public var reason: String

    public init(ssrcs: [UInt32], reason: String = "") {
        self.ssrcs = ssrcs
        self.reason = reason
    }
}

/// Generic NACK (RFC 4585 §6.2.1).
public struct RTCPGenericNACK: Sendable, Hashable {
    public var senderSSRC: UInt32
    public var mediaSSRC: UInt32

    /// The sequence numbers that are missing, ascending across a wrap.
    public var lostSequenceNumbers: [UInt16]

    public init(senderSSRC: UInt32, mediaSSRC: UInt32, lostSequenceNumbers: [UInt16]) {
        self.senderSSRC = senderSSRC
        self.mediaSSRC = mediaSSRC
        self.lostSequenceNumbers = lostSequenceNumbers
    }
}

/// PLI (RFC 4585 §6.3.1).
public struct RTCPPictureLossIndication: Sendable, Hashable {
    public var senderSSRC: UInt32
    public var mediaSSRC: UInt32

    public init(senderSSRC: UInt32, mediaSSRC: UInt32) {
        self.senderSSRC = senderSSRC
        self.mediaSSRC = mediaSSRC
    }
}

/// FIR (RFC 5104 §4.3.1).
public struct RTCPFullIntraRequest: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public var ssrc: UInt32

        /// Increments with each new request; a repeated request keeps its number.
        public var sequenceNumber: UInt8

        public init(ssrc: UInt32, sequenceNumber: UInt8) {
            self.ssrc = ssrc
            self.sequenceNumber = sequenceNumber
        }
    }

    public var senderSSRC: UInt32
    public var entries: [Entry]

    public init(senderSSRC: UInt32, entries: [Entry]) {
        self.senderSSRC = senderSSRC
        self.entries = entries
    }
}

/// A packet whose type or feedback format is not parsed.
public struct RTCPOtherPacket: Sendable, Hashable {
    public var packetType: UInt8

    /// The five bits after version and padding: a count or a feedback message type.
    public var count: UInt8

    /// Everything after the four-byte header; a multiple of 32 bits.
    public var body: ByteBuffer

    public init(packetType: UInt8, count: UInt8, body: ByteBuffer) {
        self.packetType = packetType
        self.count = count
        self.body = body
    }
}
