import IoTCore
import NIOCore
import PeerTransport
import RTP

/// One track of a camera: packetized once, and kept in one ring for retransmission and instant start.
struct CameraTrack {
    /// Differs between tracks whose packets have the same sequences.
    final class Identity {}

    let identity = Identity()
    let parameters: TrackParameters
    let codec: RTPCodec
    private(set) var meter = StreamMeter()
    private(set) var ring: PacketRing
    private var packetizer: Packetizer

    init(parameters: TrackParameters, payloadType: UInt8) {
        self.parameters = parameters
        codec = RTPCodec(parameters, payloadType: payloadType)
        packetizer = Packetizer(codec: codec)
        ring = PacketRing()
    }

    /// The sequence of the next packet; 0 at first.
    private(set) var endSequence: Int64 = 0

    mutating func measure(_ frame: MediaFrame) { meter.add(frame) }

    /// Frees the packets that are too old for the ring, while none are added.
    mutating func trim(at now: NIODeadline) { ring.trim(at: now) }

    /// Measures a frame, and adds its packets to the ring.
    mutating func append(_ frame: MediaFrame, at now: NIODeadline) throws(IoTError) {
        measure(frame)
        try packetize(frame, at: now)
    }

    /// Adds the packets of a frame that was measured.
    mutating func packetize(_ frame: MediaFrame, at now: NIODeadline) throws(IoTError) {
        let packets = try packetizer.packetize(frame)
        guard let last = packets.last else { return }
        for packet in packets { ring.append(packet, at: now) }
        endSequence = last.sequence + 1
    }

    /// Where a viewer of only this track starts: video at its newest key frame, sound after the newest packet.
    var startSequence: Int64 {
        switch parameters.kind {
        case .video: ring.newestKeyFrameSequence ?? endSequence
        case .audio: endSequence
        }
    }

    /// The first of the newest consecutive packets that are at or after `pts`, µs.
    func firstSequence(notBefore pts: Int64) -> Int64 {
        var first = endSequence
        while let packet = ring.packet(sequence: first - 1), packet.pts >= pts { first -= 1 }
        return first
    }
}
