import CReference
import IoTCore
import NIOCore
import PeerTransport
import RTP

/// The path of a video packet through both ends in memory: from a frame to RTP, SRTP, and to a frame again, without
/// the kernel. Time is virtual, so that every run does the same work and callgrind's counts can be compared.
enum MediaBenchmark {
    static func run(frames: Int, hasCongestionControl: Bool) throws {
        let (packets, cpu) = try measure(frames: frames, hasCongestionControl)
        let own = Double(cpu) / Double(packets) / 1000
        let reference = 2 * reference_seal(0, 200_000) / 1000
        print(
            """
            | media, both sides on one core, congestion control \(hasCongestionControl ? "on" : "off") | packets \
            | CPU, µs per packet |
            | --- | --- | --- |
            | \(frames) frames of \(FanoutBenchmark.frameBytes) bytes | \(packets) | \(own.text(2)) |
            | reference: AES-128-GCM alone, sealed and opened | | \(reference.text(2)) |

            """)
    }

    /// The number of packets, and the CPU time of both sides, ns.
    private static func measure(frames: Int, _ hasCongestionControl: Bool) throws -> (packets: Int, cpu: Int64) {
        let section = MediaSection(mid: "video", kind: .video, direction: .sendOnly, codecs: [FanoutBenchmark.codec])
        var pair = try PeerPair { index, configuration in
            if index == 0 { configuration.sections = [section] }
            configuration.congestion.isEnabled = hasCongestionControl
        }
        try pair.connect()

        var received = 0
        /// Runs both sides up to this time.
        func advance(to end: NIODeadline) {
            while true {
                let exchanged = pair.exchange { if case .frame = $1 { received += 1 } }
                if exchanged.hasMoved { continue }
                guard exchanged.due < end else { break }
                pair.now = max(pair.now, exchanged.due) + .microseconds(100)
                pair.handleTimeouts()
            }
            pair.now = max(pair.now, end)
        }
        func isConnected(_ peer: PeerConnection) -> Bool { if case .connected = peer.state { true } else { false } }
        for _ in 0..<2_000 where !pair.peers.allSatisfy(isConnected) { advance(to: pair.now + .milliseconds(5)) }
        guard pair.peers.allSatisfy(isConnected) else { throw BenchmarkError("two peers did not connect") }

        var packetizer = Packetizer(codec: FanoutBenchmark.codec)
        var bytes = ByteBuffer()
        bytes.writeInteger(UInt32(FanoutBenchmark.frameBytes - 4))
        bytes.writeInteger(UInt8(0x65))
        bytes.writeRepeatingByte(0x5A, count: FanoutBenchmark.frameBytes - 5)
        var packets = 0
        let start = reference_thread_cpu()
        for index in 0..<frames {
            let pts = Int64(index) * FanoutBenchmark.frameInterval.nanoseconds / 1000
            let cut = try packetizer.packetize(
                MediaFrame(kind: .video, isKeyFrame: true, pts: pts, dts: pts, bytes: bytes))
            packets += cut.count
            pair.peers[0].send(cut, mid: "video", at: pair.now)
            advance(to: pair.now + FanoutBenchmark.frameInterval)
        }
        let cpu = reference_thread_cpu() - start
        guard received > frames - 2 else { throw BenchmarkError("only \(received) of \(frames) frames arrived") }
        return (packets, cpu)
    }
}
