import IoTCore
import NIOCore
import PeerTransport
import RTP

/// Reassembles each frame from the peer, packetises it again and sends it back, independent of the test's own task.
/// Confined to the peer's event loop.
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
            // The frames come from the peer's encoder, so the request goes back to it.
            peer.requestKeyFrame(mid: mid)
        case .retransmissionRequested(let mid, let numbers):
            for number in numbers {
                if let packet = tracks[mid]?.ring.packet(sequence: number) { peer.resend(packet, mid: mid) }
            }
        default: break
        }
    }
}
