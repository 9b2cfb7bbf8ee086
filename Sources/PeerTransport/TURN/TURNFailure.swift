/// Why a server gave no relay: a code of STUN or TURN (RFC 8489 §14.8, RFC 8656 §19), or 701 for no usable answer, as
/// in W3C's RTCPeerConnectionIceErrorEvent.
struct TURNFailure: Sendable, Equatable {
    var code: Int
    var text: String

    static let noAnswerCode = 701

    static func noAnswer(_ text: String) -> TURNFailure {
        TURNFailure(code: noAnswerCode, text: text)
    }
}
