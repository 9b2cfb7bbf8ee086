/// RTCP's packet types and feedback formats (RFC 3550 §12.1, RFC 4585 §6, RFC 5104 §4.3).
enum RTCPPacketType {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportFeedback: UInt8 = 205
    static let payloadFeedback: UInt8 = 206

    static let genericNACKFormat: UInt8 = 1
    static let pictureLossFormat: UInt8 = 1
    static let fullIntraFormat: UInt8 = 4

    /// draft-alvestrand-rmcat-remb-03 §2.2: the format of application layer feedback, and the identifier `REMB`.
    static let applicationFormat: UInt8 = 15
    static let estimateIdentifier: UInt32 = 0x5245_4D42

    /// draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1.
    static let transportWideFormat: UInt8 = 15

    static let canonicalNameItem: UInt8 = 1
}
