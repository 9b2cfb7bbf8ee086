public import IoTCore
public import NIOCore
public import RTP

/// An event that a peer connection reports to its owner.
public enum PeerEvent: Sendable {
    /// `candidate:…` for the peer, found after the description was created; empty when there are no more.
    case localCandidate(String)
    case stateChanged(PeerConnectionState)

    /// A STUN or TURN server returned no candidate; other servers may. `code` is a STUN or TURN error code, or 701 for
    /// no usable response, as in W3C's RTCPeerConnectionIceErrorEvent.
    case candidateError(url: String, code: Int, text: String)

    /// A complete frame, in decoding order.
    case frame(mid: String, ReceivedFrame)

    /// At least one frame is missing between the last `.frame` and the next.
    case frameLost(mid: String)

    /// How far the section's pictures must be turned from now on. It comes before the frame in whose packets it was.
    case rotationChanged(mid: String, PictureRotation)

    /// The current mapping between the track's RTP time and its sender's wall clock.
    case senderReport(mid: String, SenderReportMapping)

    /// The peer cannot decode until it gets a key frame (PLI or FIR).
    case keyFrameRequested(mid: String)

    /// Our data channel may be used from now on, or the peer has opened one.
    case dataChannelOpened(DataChannel)

    case dataChannelMessage(DataChannelID, DataChannelMessage)

    /// A channel has ended; with an error unless a side closed it.
    case dataChannelClosed(DataChannelID, IoTError?)

    /// The channel's buffered amount has fallen to its threshold.
    case dataChannelBufferedAmountLow(DataChannelID)

    /// The estimated capacity of the path to the peer, in bits per second, RTP headers included; reported when it has
    /// changed by 3 %. A source that can adapt should keep the sum of its tracks below it.
    case targetBitrateChanged(Int)

    /// The peer has ended a track (BYE).
    case goodbye(mid: String)

    /// The peer requests these packets of the track again (NACK). Reply with `resend`.
    case retransmissionRequested(mid: String, [Int64])
}

/// Names as in W3C's RTCPeerConnectionState.
public enum PeerConnectionState: Sendable {
    /// No descriptions have been exchanged.
    case new
    case connecting
    case connected
    /// No packet has arrived for some seconds; `connected` or `failed` follows.
    case disconnected
    /// The end, with its cause: `handshakeTimeout`, `timeoutDisconnected` or `peerFailed`.
    case failed(IoTError)
    /// The end, because either side closed the connection.
    case closed

    var isEnd: Bool {
        switch self {
        case .failed, .closed: true
        case .new, .connecting, .connected, .disconnected: false
        }
    }
}

/// Something that a peer connection's owner has to do.
public enum PeerOutput: Sendable {
    case transmit(ByteBuffer, to: SocketAddress)
    case event(PeerEvent)
    /// Name resolution and relay links; only with ICE servers, or with a peer that hides its addresses behind names.
    case network(NetworkRequest)
    /// No more output until an input or this time, when `handleTimeout` is due. The time may be in the past.
    case timeout(NIODeadline)
}
