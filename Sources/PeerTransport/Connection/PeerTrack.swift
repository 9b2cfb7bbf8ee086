import IoTCore
import NIOCore

/// One section of a connection: what is sent in it and what is received.
struct PeerTrack {
    let section: NegotiatedSection
    var sender: RTPSender?
    var receiver: RTPReceiver?
    var receiverDeadline: NIODeadline?

    init(
        section: NegotiatedSection, cname: String, isNACKEnabled: Bool,
        generator: inout any RandomNumberGenerator
    ) throws(IoTError) {
        self.section = section
        if let codec = section.sendingCodec {
            sender = RTPSender(
                codec: codec, ssrc: section.localSSRC, canonicalName: cname,
                initialSequenceNumber: RTPSender.initialSequenceNumber(using: &generator),
                timestampOffset: .random(in: 0 ... .max, using: &generator))
        }
        if !section.receivingCodecs.isEmpty {
            receiver = try RTPReceiver(
                codecs: section.receivingCodecs,
                configuration: RTPReceiverConfiguration(
                    localSSRC: section.localSSRC, canonicalName: cname,
                    isNACKEnabled: isNACKEnabled && section.feedback.contains(.nack),
                    isPLIEnabled: section.feedback.contains(.pictureLossIndication),
                    isReducedSizeAllowed: section.allowsReducedSizeRTCP))
        }
    }

    func receives(payloadType: UInt8) -> Bool {
        section.receivingCodecs.contains { $0.payloadType == payloadType }
    }

    var nextDeadline: NIODeadline? {
        guard let report = sender?.reportDeadline else { return receiverDeadline }
        return receiverDeadline.map { min($0, report) } ?? report
    }
}
