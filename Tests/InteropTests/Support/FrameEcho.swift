import IoTCore
import NIOCore
import PeerTransport
import RTP

/// Each frame that the peer sends is put together, packetised anew and sent back, whatever the test waits for. On the
/// peer's event loop only.
final class FrameEcho {
    weak var peer: Peer?
    private var tracks: [String: Track] = [:]

    private struct Track {
        var packetizer: Packetizer
        var ring = PacketRing(maximumDuration: .seconds(2))
    }

    func take(_ event: PeerEvent) {
        guard let peer else { return }
        switch event {
        case .frame(let mid, let received):
            if tracks[mid] == nil {
                guard let codec = peer.sendingCodec(mid: mid) else { return }
                tracks[mid] = Track(packetizer: Packetizer(codec: codec))
            }
            guard let packets = try? tracks[mid]?.packetizer.packetize(received.frame) else { return }
            for packet in packets { tracks[mid]?.ring.append(packet, at: .now()) }
            peer.send(packets, mid: mid)
        case .keyFrameRequested(let mid):
            // The encoder is the other side's own.
            peer.requestKeyFrame(mid: mid)
        case .retransmissionRequested(let mid, let numbers):
            for number in numbers {
                if let packet = tracks[mid]?.ring.packet(sequence: number) { peer.resend(packet, mid: mid) }
            }
        default: break
        }
    }
}
