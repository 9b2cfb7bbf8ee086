import IoTCore
import NIOCore
import RTP

/// One section of a connection: its sender and its receiver.
struct PeerTrack {
    let section: NegotiatedSection
    var sender: RTPSender?
    var receiver: RTPReceiver?
    var receiverDeadline: NIODeadline?

    /// The playout delay that the track's sender last asked for.
    var playoutDelay: PlayoutDelay?

    private let midBytes: [UInt8]
    /// How far the peer must turn the pictures; `nil` as long as they were never turned.
    var sendingRotation: PictureRotation?
    /// How far the peer's pictures must be turned.
    var receivedRotation = PictureRotation.none

    init(
        section: NegotiatedSection, cname: String, isNACKEnabled: Bool,
        generator: inout any RandomNumberGenerator
    ) throws(IoTError) {
        self.section = section
        midBytes = Array(section.mid.utf8.prefix(32))
        if let codec = section.sendingCodec {
            var retransmission: RTPSender.Retransmission?
            if let type = section.sendingRetransmissionType, let ssrc = section.localRetransmissionSSRC {
                retransmission = .init(
                    payloadType: type, ssrc: ssrc,
                    initialSequenceNumber: RTPSender.initialSequenceNumber(using: &generator))
            }
            sender = RTPSender(
                codec: codec, ssrc: section.localSSRC, canonicalName: cname, retransmission: retransmission,
                initialSequenceNumber: RTPSender.initialSequenceNumber(using: &generator),
                timestampOffset: .random(in: 0 ... .max, using: &generator))
        }
        if !section.receivingCodecs.isEmpty {
            var configuration = RTPReceiverConfiguration(
                localSSRC: section.localSSRC, canonicalName: cname,
                isNACKEnabled: isNACKEnabled && section.feedback.contains(.nack),
                isPLIEnabled: section.feedback.contains(.pictureLossIndication),
                isReducedSizeAllowed: section.allowsReducedSizeRTCP)
            configuration.isFIREnabled = section.feedback.contains(.fullIntraRequest)
            if !configuration.isNACKEnabled, section.receivingCodecs.allSatisfy({ $0.format == .opus }) {
                configuration.reorderingTolerance = RTPReceiverConfiguration.speechReorderingTolerance
            }
            configuration.hasRetransmissionStream = !section.receivingRetransmissionTypes.isEmpty
            receiver = try RTPReceiver(codecs: section.receivingCodecs, configuration: configuration)
            receiver?.statistics.rtxSSRC = section.remoteRetransmissionSSRC
        }
    }

    func receives(payloadType: UInt8) -> Bool {
        section.receivingCodecs.contains { $0.payloadType == payloadType }
            || section.receivingRetransmissionTypes[payloadType] != nil
    }

    /// Mutating, like `headerExtension`, so that the track is not copied for each packet.
    var nextDeadline: NIODeadline? {
        mutating get {
            guard let report = sender?.reportDeadline else { return receiverDeadline }
            return receiverDeadline.map { min($0, report) } ?? report
        }
    }

    /// True when the section's packets carry transport-wide numbers, in both directions.
    var hasTransportNumbers: Bool {
        section.feedback.contains(.transportWide) && section.headerExtensions.transportSequenceNumber != nil
    }

    /// A packet that may be sent again under its old number carries no extensions, because SRTP must not encrypt two
    /// different headers under one number.
    private var hasHeaderExtensions: Bool {
        section.sendingRetransmissionType != nil || !section.feedback.contains(.nack)
    }

    /// True when the peer sends feedback about the packets that we send.
    var hasRateFeedback: Bool {
        hasHeaderExtensions
            && (hasTransportNumbers || section.feedback.contains(.receiverEstimatedMaximumBitrate))
    }

    /// The header extensions of the packet; `nil` for none.
    mutating func headerExtension(
        of packet: MediaPacket, number: UInt16?, playoutDelay: PlayoutDelay?, at now: NIODeadline
    ) -> OutgoingHeaderExtension? {
        guard hasHeaderExtensions, let reportsReceived = sender?.statistics.reportsReceived else { return nil }
        var headerExtension = OutgoingHeaderExtension(section.headerExtensions)
        if hasTransportNumbers {
            headerExtension.transportSequenceNumber = number
        } else if section.feedback.contains(.receiverEstimatedMaximumBitrate) {
            headerExtension.absoluteSendTime = AbsoluteSendTime.packed(now)
        }
        // 3GPP TS 26.114 §7.4.5 wants it with the last packet of a key frame; libwebrtc takes a picture without it for one
        // that is not turned.
        if packet.marker, let sendingRotation { headerExtension.videoOrientation = sendingRotation.orientation }
        if reportsReceived == 0 {
            // RFC 9143 §15.2: sent until the peer has shown that it knows the stream.
            headerExtension.mid = midBytes
            headerExtension.playoutDelay = playoutDelay?.packed
        }
        return headerExtension
    }
}
