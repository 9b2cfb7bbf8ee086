/// Why a server returned no address: a STUN or TURN error code (RFC 8489 §14.8, RFC 8656 §19), or 701 for no usable
/// response, as in W3C's RTCPeerConnectionIceErrorEvent.
struct TURNFailure: Sendable, Equatable {
    var code: Int
    var text: String

    static let noAnswerCode = 701

    static func noAnswer(_ text: String) -> TURNFailure {
        TURNFailure(code: noAnswerCode, text: text)
    }
}
