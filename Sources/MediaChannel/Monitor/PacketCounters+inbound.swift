import MediaPlayer
import PeerTransport
import RTP

extension PacketCounters {
    /// The transport's counters of one received track.
    init(_ inbound: RTPReceiverStatistics) {
        self.init()
        packetsReceived = Int(clamping: inbound.packetsReceived)
        packetsLost = Int(clamping: inbound.packetsLost)
        packetsDuplicated = Int(clamping: inbound.packetsDuplicated)
        retransmittedPacketsReceived = Int(clamping: inbound.retransmittedPacketsReceived)
        bytesReceived = Int(clamping: inbound.bytesReceived)
        nackCount = Int(clamping: inbound.nackCount)
        pliCount = Int(clamping: inbound.pliCount)
        jitter = inbound.jitter
    }
}
