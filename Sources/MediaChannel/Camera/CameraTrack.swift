import IoTCore
import NIOCore
import PeerTransport

/// One track of a camera: packetised once, and kept in one ring for retransmission and instant start.
struct CameraTrack {
    let parameters: TrackParameters
    let codec: RTPCodec
    private(set) var meter = StreamMeter()
    private(set) var ring: PacketRing
    private var packetizer: Packetizer
    private var frames = FrameIndex()

    init(parameters: TrackParameters, payloadType: UInt8) {
        self.parameters = parameters
        codec = RTPCodec(parameters, payloadType: payloadType)
        packetizer = Packetizer(codec: codec)
        ring = PacketRing()
    }

    /// The sequence of the next packet to come; 0 at first.
    private(set) var endSequence: Int64 = 0

    /// Adds a frame's packets to the ring.
    mutating func append(_ frame: MediaFrame, at now: NIODeadline) throws(IoTError) {
        meter.add(frame)
        let packets = try packetizer.packetize(frame)
        guard let first = packets.first, let last = packets.last else { return }
        for packet in packets { ring.append(packet, at: now) }
        endSequence = last.sequence + 1
        frames.append(sequence: first.sequence, pts: frame.pts, oldest: ring.oldestSequence ?? first.sequence)
    }

    /// The time of the frame to which a packet belongs, µs; `nil` when the ring no longer holds it.
    func pts(ofSequence sequence: Int64) -> Int64? {
        frames.pts(ofSequence: sequence)
    }

    /// Where a viewer of this track alone begins: video at its newest key frame, sound at the newest packet.
    var startSequence: Int64 {
        switch parameters.kind {
        case .video: ring.newestKeyFrameSequence ?? endSequence
        case .audio: endSequence
        }
    }

    /// The first packet at or behind `pts`.
    func firstSequence(notBefore pts: Int64) -> Int64 {
        frames.firstSequence(notBefore: pts) ?? endSequence
    }
}
