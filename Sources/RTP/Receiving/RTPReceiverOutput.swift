public import NIOCore

/// What an `RTPReceiver` wants done.
public enum RTPReceiverOutput: Sendable {
    /// The next frame, in decoding order.
    case frame(ReceivedFrame)

    /// At least one frame is missing between the last `.frame` and the next one.
    case frameLost

    /// One compound (or reduced-size) RTCP packet to send.
    case rtcp([RTCPPacket])

    /// Nothing more until a packet arrives or this time has come; then call `handleTimeout`.
    case timeout(NIODeadline)
}
