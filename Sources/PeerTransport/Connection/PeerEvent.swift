public import IoTCore
public import NIOCore
public import RTP

/// What a peer connection tells its owner.
public enum PeerEvent: Sendable {
    /// `candidate:…` for the peer, found after the description was made; empty when there are no more.
    case localCandidate(String)
    case stateChanged(PeerConnectionState)

    /// A STUN or TURN server gave nothing; others may. `code` is of STUN or TURN, or 701 for no usable answer, as in
    /// W3C's RTCPeerConnectionIceErrorEvent.
    case candidateError(url: String, code: Int, text: String)

    /// A whole frame, in decoding order.
    case frame(mid: String, ReceivedFrame)

    /// At least one frame is missing between the last and the next `.frame`.
    case frameLost(mid: String)

    /// How the track's RTP time and its sender's wall clock lie to each other now.
    case senderReport(mid: String, SenderReportMapping)

    /// The peer cannot decode until it gets a key frame (PLI or FIR).
    case keyFrameRequested(mid: String)

    /// A data channel of ours may be used from now on, or the peer has opened one.
    case dataChannelOpened(DataChannel)

    case dataChannelMessage(DataChannelID, DataChannelMessage)

    /// The end of a channel; with the reason when nobody asked for it.
    case dataChannelClosed(DataChannelID, IoTError?)

    /// What waits to be sent in the channel has fallen to its threshold.
    case dataChannelBufferedAmountLow(DataChannelID)

    /// What the way to the peer carries, bits a second with the headers of RTP: told when it has moved by 3 %. A source
    /// that can should keep its tracks together below it.
    case targetBitrateChanged(Int)

    /// The peer has ended a track (BYE).
    case goodbye(mid: String)

    /// The peer lacks these of the track's packets (NACK); answer with `resend`.
    case retransmissionRequested(mid: String, [Int64])
}

/// Names as in W3C's RTCPeerConnectionState.
public enum PeerConnectionState: Sendable {
    /// No descriptions have been exchanged.
    case new
    case connecting
    case connected
    /// Nothing came for some seconds; `connected` or `failed` follows.
    case disconnected
    /// The end, with its reason: `handshakeTimeout`, `timeoutDisconnected` or `peerFailed`.
    case failed(IoTError)
    /// The end, by either side's wish.
    case closed

    var isEnd: Bool {
        switch self {
        case .failed, .closed: true
        case .new, .connecting, .connected, .disconnected: false
        }
    }
}

/// What a peer connection wants done.
public enum PeerOutput: Sendable {
    case transmit(ByteBuffer, to: SocketAddress)
    case event(PeerEvent)
    /// Names and relays; only with ICE servers, or a peer that hides its addresses behind names.
    case network(NetworkRequest)
    /// Nothing more until an input or this time, at which `handleTimeout` is to be called; it may be in the past.
    case timeout(NIODeadline)
}
