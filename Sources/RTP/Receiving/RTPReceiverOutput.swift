public import NIOCore

/// An output of `RTPReceiver.poll()`.
public enum RTPReceiverOutput: Sendable {
    /// The next frame, in decoding order.
    case frame(ReceivedFrame)

    /// At least one frame is missing between the last `.frame` and the next one.
    case frameLost

    /// A compound or reduced-size RTCP packet to send.
    case rtcp([RTCPPacket])

    /// There is no more output until a packet arrives or this time is reached; then call `handleTimeout`.
    case timeout(NIODeadline)
}
