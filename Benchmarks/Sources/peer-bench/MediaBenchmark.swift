import CReference
import IoTCore
import NIOCore
import PeerTransport
import RTP

/// The way of a packet of video through both ends in memory: from a frame to RTP, SRTP, and to a frame again, without
/// the kernel. Time is virtual, so that two runs do the same work: what callgrind counts can be compared.
enum MediaBenchmark {
    static func run(frames: Int, hasCongestionControl: Bool) throws {
        let (packets, cpu) = try measure(frames: frames, hasCongestionControl)
        let own = Double(cpu) / Double(packets) / 1000
        let reference = 2 * reference_seal(0, 200_000) / 1000
        print(
            """
            | media, both sides on one core, congestion control \(hasCongestionControl ? "on" : "off") | packets \
            | CPU, µs a packet |
            | --- | --- | --- |
            | \(frames) frames of \(FanoutBenchmark.frameBytes) bytes | \(packets) | \(own.text(2)) |
            | reference: AES-128-GCM alone, sealed and opened | | \(reference.text(2)) |

            """)
    }

    /// How many packets went over, and the CPU time of both sides, ns.
    private static func measure(frames: Int, _ hasCongestionControl: Bool) throws -> (packets: Int, cpu: Int64) {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let addresses = try ["192.0.2.1", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 4000) }
        let section = MediaSection(mid: "video", kind: .video, direction: .sendOnly, codecs: [FanoutBenchmark.codec])
        let peers = try (0...1).map { index in
            var configuration = PeerConfiguration(
                hostAddresses: [addresses[index]], isControlling: index == 0, sections: index == 0 ? [section] : [])
            configuration.congestion.isEnabled = hasCongestionControl
            return PeerConnection(configuration: configuration, certificate: try PeerCertificate.generate(), now: now)
        }
        let offer = try peers[0].createOffer()
        try peers[0].setAnswer(try peers[1].createAnswer(to: offer))

        var received = 0
        /// Takes all that is there to take; the time of what is due next.
        func exchange() -> NIODeadline {
            var next = NIODeadline.distantFuture
            var moved = true
            while moved {
                moved = false
                next = .distantFuture
                for index in 0...1 {
                    poll: while let output = peers[index].poll() {
                        switch output {
                        case .transmit(let datagram, _):
                            moved = true
                            peers[1 - index].receive(datagram, from: addresses[index], at: now)
                        case .event(.frame): received += 1
                        case .event, .network: continue
                        case .timeout(let deadline):
                            next = min(next, deadline)
                            break poll
                        }
                    }
                }
            }
            return next
        }
        /// Both sides do what is due until then.
        func advance(to end: NIODeadline) {
            while true {
                let due = exchange()
                guard due < end else { break }
                now = max(now, due) + .microseconds(100)
                for peer in peers { peer.handleTimeout(at: now) }
            }
            now = max(now, end)
        }
        func isConnected(_ peer: PeerConnection) -> Bool { if case .connected = peer.state { true } else { false } }
        for _ in 0..<2_000 where !peers.allSatisfy(isConnected) { advance(to: now + .milliseconds(5)) }
        guard peers.allSatisfy(isConnected) else { throw BenchmarkError("two peers did not connect") }

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
            peers[0].send(cut, mid: "video", at: now)
            advance(to: now + FanoutBenchmark.frameInterval)
        }
        let cpu = reference_thread_cpu() - start
        guard received > frames - 2 else { throw BenchmarkError("only \(received) of \(frames) frames arrived") }
        return (packets, cpu)
    }
}
