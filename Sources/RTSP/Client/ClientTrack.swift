import IoTCore
import NIOCore
import RTP

/// One track of a client's session: its packets become frames on the client's clock.
struct ClientTrack: Sendable {
    let description: TrackDescription
    let url: String
    let kind: MediaKind
    /// `nil` for MPEG audio, whose parameters are in its frames.
    let parameters: TrackParameters?
    var receiver: RTPReceiver
    var clock: TrackClock
    private var hasStarted = false
    /// Whether the camera has ended the stream (BYE, RFC 3550 §6.6).
    var hasEnded = false
    /// The camera's wall clock at one RTP time; `nil` before a sender report.
    private(set) var report: SenderReportMapping?
    /// µs since 1970 on the camera's clock at the client's time 0; `nil` before a sender report, and after a jump until
    /// the next one.
    private(set) var wallClockOffset: Int64?

    /// The shortest time between reports (RFC 3550 §6.2).
    private static let reportInterval = TimeAmount.seconds(5)

    /// The largest number of packets that wait over TCP, which never reorders them. Each may have 64 KiB.
    private static let reliableDepth = 64

    /// - Parameter isReliable: Whether packets come over TCP.
    /// - Returns: `nil` for a track that cannot be read.
    init?(_ description: TrackDescription, base: String, localSSRC: UInt32, isReliable: Bool) {
        guard description.isPlainRTP, let codec = description.codec, let format = codec.format else { return nil }
        let parameters = codec.trackParameters
        guard parameters != nil || format == .mpegAudio else { return nil }
        var configuration = RTPReceiverConfiguration(
            localSSRC: localSSRC, canonicalName: RTSPClientConfiguration.userAgent, isNACKEnabled: false,
            isPLIEnabled: false, isReducedSizeAllowed: false)
        configuration.reportInterval = Self.reportInterval
        if isReliable {
            configuration.maximumBufferedPackets = Self.reliableDepth
            configuration.maximumMissingPackets = Self.reliableDepth
        }
        guard let receiver = try? RTPReceiver(codecs: [codec], configuration: configuration) else { return nil }
        self.description = description
        url = ControlURL.resolve(description.control, base: base)
        kind = format.kind
        self.parameters = parameters
        self.receiver = receiver
        clock = TrackClock(rate: codec.clockRate)
    }

    func hasPayloadType(of packet: RTPPacket) -> Bool { packet.payloadType == description.codec?.payloadType }

    /// Places a frame on the client's clock.
    ///
    /// - Parameter epoch: Time 0 of that clock.
    /// - Returns: `nil` for a picture before the first key frame, because it cannot be decoded.
    mutating func place(_ received: ReceivedFrame, epoch: NIODeadline) -> MediaFrame? {
        guard hasStarted || received.frame.isKeyFrame else { return nil }
        hasStarted = true
        let arrival = (received.firstArrival - epoch).nanoseconds / 1_000
        let jumps = clock.jumps
        let placement = clock.place(ticks: received.rtpTimestamp, arrival: arrival)
        // The last report does not map the times after a jump.
        if clock.jumps != jumps || placement.isDiscontinuity { wallClockOffset = nil }
        var frame = received.frame
        frame.pts = placement.time
        frame.dts = placement.time
        frame.isDiscontinuity = placement.isDiscontinuity
        return frame
    }

    /// Moves all later frames.
    mutating func move(by microseconds: Int64) {
        clock.move(by: microseconds)
        wallClockOffset = wallClockOffset.map { $0 &- microseconds }
    }

    mutating func take(_ report: RTCPSenderReport, at now: NIODeadline) {
        guard let mapping = receiver.handle(senderReport: report, at: now) else { return }
        self.report = mapping
        wallClockOffset = clock.time(ofTicks: mapping.rtpTimestamp).map { mapping.ntpMicroseconds &- $0 }
    }
}
