import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// A camera that sends to a viewer over a path with limited capacity, in virtual time.
final class CongestionRun {
    struct Sample {
        /// The time since the start of the media.
        var time: TimeAmount
        var target: Int
        var queueDelay: TimeAmount
    }

    let link: PeerLink

    /// One sample every 40 ms.
    private(set) var samples: [Sample] = []
    private(set) var sentFrames = 0

    /// The bit rate of a source that cannot change it; `nil` for a source that follows the target.
    var fixedRate: Int?

    private var target: Int
    private var packetizer = Packetizer(codec: MediaFixtures.h264)
    private var ring = PacketRing()
    private var random: SeededGenerator
    private var elapsed = TimeAmount.zero

    /// One key frame, five times as large as the other frames, every two seconds.
    private static let group = 50
    private static let frameTime = TimeAmount.milliseconds(40)

    init(
        seed: UInt64, rate: Int?, delay: TimeAmount = .milliseconds(25), initialBitrate: Int = 1_000_000,
        adjust: @escaping (inout PeerConfiguration) -> Void = { _ in }
    ) throws {
        random = SeededGenerator(seed: seed)
        target = initialBitrate
        link = try PeerLink(seed: seed) {
            $0.congestion.initialBitrate = initialBitrate
            adjust(&$0)
        }
        link.isCapturing = false
        link.delay = delay
        try link.connect()
        link.rate = rate
        link.onEvent = { [unowned self] index, event in
            guard index == 0 else { return }
            switch event {
            case .targetBitrateChanged(let value): target = value
            case .retransmissionRequested("0", let sequences):
                for sequence in sequences {
                    if let packet = ring.packet(sequence: sequence) {
                        link.peers[0].resend(packet, mid: "0", at: link.now)
                    }
                }
            default: break
            }
        }
    }

    func run(for time: TimeAmount) throws {
        let end = elapsed + time
        while elapsed < end {
            let isKeyFrame = sentFrames % Self.group == 0
            // Leaves room for the encoder's variance and for headers.
            let average = Double(fixedRate ?? target) * 0.9 / 8 / 25
            let small = average * Double(Self.group) / Double(Self.group + 4)
            let frame = MediaFixtures.picture(
                .h264, isKeyFrame: isKeyFrame, size: Int(isKeyFrame ? 5 * small : small),
                pts: elapsed.nanoseconds / 1_000, using: &random)
            let packets = try packetizer.packetize(frame)
            for packet in packets { ring.append(packet, at: link.now) }
            link.peers[0].send(packets, mid: "0", at: link.now)
            sentFrames += 1
            try link.run(for: Self.frameTime)
            elapsed = elapsed + Self.frameTime
            samples.append(
                Sample(
                    time: elapsed, target: link.peers[0].statistics.availableOutgoingBitrate ?? 0,
                    queueDelay: link.queueDelay))
        }
    }

    var receivedFrames: Int { link.frames(1, mid: "0").count }

    func samples(from start: Double, to end: Double) -> [Sample] {
        samples.filter { (Int64(start * 1e9)...Int64(end * 1e9)).contains($0.time.nanoseconds) }
    }
}
