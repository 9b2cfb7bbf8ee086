import IoTCore
package import NIOCore

/// How a camera wants the packets of its back channel.
package struct BackChannelProfile: Sendable, Hashable {
    /// The size of a packet of G.711. A packet of AAC has one access unit.
    package enum PacketSize: Sendable, Hashable {
        case duration(TimeAmount)
        case bytes(Int)
    }

    /// 20 ms are RFC 3551's default (§4.5, table 1).
    package var packetSize = PacketSize.duration(.milliseconds(20))
    /// Whether all RTP times are 0. Such a camera gets no sender reports, because they would contradict.
    package var hasZeroTimestamps = false
    /// Whether every packet has the marker; otherwise only the first (RFC 3551 §4.1).
    package var marksEveryPacket = false
    /// How far ahead of real time packets may be sent. A burst at the start keeps the first words, which were spoken
    /// while the session was opened, and is the camera's reserve against jitter.
    package var lead = TimeAmount.milliseconds(200)

    package init() {}

    /// The profile of a camera that is known to need its own; otherwise the default.
    ///
    /// - Parameter tool: The software that wrote the session description.
    package init(_ format: BackChannelFormat, tool: String?) {
        guard let tool, tool.utf8.starts(with: "BC Streaming Media".utf8), format.codec != .aac else { return }
        // Quirk 20: Reolink doorbells play only packets of 1,024 bytes with the marker, without bursts; with PCMA, RTP
        // times of 0 are known to work (AlexxIT/go2rtc#331, `RepackG711`). With PCMU, equal times make them repeat
        // packets (AlexxIT/go2rtc#2353).
        packetSize = .bytes(1_024)
        marksEveryPacket = true
        hasZeroTimestamps = format.codec == .pcma
        lead = .zero
    }

    /// The number of samples of each channel in a packet.
    package func sampleCount(_ format: BackChannelFormat) -> Int {
        if format.codec == .aac { return 1_024 }
        switch packetSize {
        case .duration(let duration): return max(1, Int(duration.nanoseconds) / 1_000 * format.sampleRate / 1_000_000)
        // One byte is one sample.
        case .bytes(let count): return max(1, count)
        }
    }
}
