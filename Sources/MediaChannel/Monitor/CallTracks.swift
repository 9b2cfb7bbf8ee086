import IoTCore
import MediaCodec
import MediaPlayer
import PeerTransport
import RTP

/// A call's media sections: converts the peer connection's events for the player. A value without I/O.
struct CallTracks {
    private var kinds: [String: MediaKind] = [:]
    private(set) var description = FrameSourceDescription(video: nil, audio: nil)

    init() {}

    /// `sections`: the negotiated sections, each with its name, kind and codec.
    init(_ sections: [(mid: String, kind: MediaKind, codec: RTPCodec)]) {
        for (mid, kind, codec) in sections {
            kinds[mid] = kind
            switch codec.trackParameters {
            case .video(let parameters):
                description.video =
                    VideoParameters(codec: parameters.codec, parameterSets: parameters.parameterSets) ?? parameters
            case .audio(let parameters): description.audio = parameters
            case nil: break
            }
        }
    }

    /// Returns `nil` for events that a player does not need.
    func output(_ event: PeerEvent) -> FrameSourceOutput? {
        switch event {
        case .frame(let mid, let received):
            guard kinds[mid] != nil else { return nil }
            return .frame(
                SourceFrame(received.frame, arrival: received.lastArrival, recoveryTime: received.recoveryTime))
        case .frameLost(let mid):
            return kinds[mid].map { .lost($0) }
        case .rotationChanged(let mid, let rotation):
            return kinds[mid] == .video ? .turned(rotation) : nil
        case .senderReport(let mid, let mapping):
            let ticks = Double(mapping.rtpTimestamp) / Double(max(1, mapping.clockRate))
            return kinds[mid].map {
                .clock($0, pts: Int64(ticks * 1_000_000), offset: mapping.senderTime(ofRTPTimestamp: 0))
            }
        default:
            return nil
        }
    }

    /// The section's name.
    func section(_ kind: MediaKind) -> String? {
        kinds.first { $0.value == kind }?.key
    }

    /// The transport's counters for each kind of track.
    func packets(_ inbound: [String: RTPReceiverStatistics]) -> [MediaKind: PacketCounters] {
        var packets: [MediaKind: PacketCounters] = [:]
        for (mid, kind) in kinds { packets[kind] = inbound[mid].map { PacketCounters($0) } }
        return packets
    }
}
