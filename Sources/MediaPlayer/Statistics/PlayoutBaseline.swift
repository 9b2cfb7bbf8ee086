public import IoTCore
public import NIOCore

/// A channel's counters when a use joined it. They are subtracted from the use's statistics.
public struct PlayoutBaseline: Sendable {
    /// When the channel started to play, µs on the monotonic clock.
    let startedAt: Int64
    /// `nil` without a jitter buffer.
    let report: JitterBufferReport?
    let packets: [MediaKind: PacketCounters]

    public init(startedAt: NIODeadline, report: JitterBufferReport?, packets: [MediaKind: PacketCounters]) {
        self.startedAt = startedAt.playoutMicroseconds
        self.report = report
        self.packets = packets
    }
}

extension JitterBufferReport {
    /// The same state, with only the counts after `earlier`.
    func counted(since earlier: JitterBufferReport) -> JitterBufferReport {
        var report = self
        report.emittedFrames -= earlier.emittedFrames
        report.totalHeld = report.totalHeld - earlier.totalHeld
        report.lateFrames -= earlier.lateFrames
        report.lostFrames -= earlier.lostFrames
        report.skippedFrames -= earlier.skippedFrames
        report.keyFrameRequests -= earlier.keyFrameRequests
        report.concealed = report.concealed - earlier.concealed
        report.discontinuities -= earlier.discontinuities
        report.stalls -= earlier.stalls
        return report
    }
}

extension PacketCounters {
    /// Only the counts after `earlier`; the jitter is the current one.
    func counted(since earlier: PacketCounters) -> PacketCounters {
        var counters = self
        counters.packetsReceived -= earlier.packetsReceived
        counters.packetsLost -= earlier.packetsLost
        counters.packetsDuplicated -= earlier.packetsDuplicated
        counters.retransmittedPacketsReceived -= earlier.retransmittedPacketsReceived
        counters.bytesReceived -= earlier.bytesReceived
        counters.nackCount -= earlier.nackCount
        counters.pliCount -= earlier.pliCount
        return counters
    }
}
