import CReference
import IoTCore
import NIOCore
import PeerTransport

/// Whole connections in memory, both sides on one core: descriptions, ICE, DTLS, SRTP keys. The reference is OpenSSL's
/// part alone.
enum HandshakeBenchmark {
    static func run() throws {
        let rounds = 300
        let certificates = (try PeerCertificate.generate(), try PeerCertificate.generate())
        let start = reference_thread_cpu()
        for _ in 0..<rounds { try connect(certificates) }
        let own = Double(reference_thread_cpu() - start) / Double(rounds) / 1e6
        let reference = reference_handshake(Int32(rounds)) / 1e6
        print("| handshakes, both sides | CPU, ms | per second and core |\n| --- | --- | --- |")
        print("| whole connection | \(own.text(2)) | \((1000 / own).text(0)) |")
        print("| reference: DTLS in C | \(reference.text(2)) | \((1000 / reference).text(0)) |\n")
    }

    private static func connect(_ certificates: (PeerCertificate, PeerCertificate)) throws {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let addresses = try ["192.0.2.1", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 4000) }
        let section = MediaSection(mid: "video", kind: .video, direction: .sendOnly, codecs: [FanoutBenchmark.codec])
        let peers = [
            PeerConnection(
                configuration: PeerConfiguration(
                    hostAddresses: [addresses[0]], isControlling: true, sections: [section]),
                certificate: certificates.0, now: now),
            PeerConnection(
                configuration: PeerConfiguration(hostAddresses: [addresses[1]], isControlling: false),
                certificate: certificates.1, now: now),
        ]
        let offer = try peers[0].createOffer()
        try peers[0].setAnswer(try peers[1].createAnswer(to: offer))
        for _ in 0..<200 {
            for index in 0...1 {
                peers[index].handleTimeout(at: now)
                poll: while let output = peers[index].poll() {
                    switch output {
                    case .transmit(let datagram, _): peers[1 - index].receive(datagram, from: addresses[index], at: now)
                    case .event, .network: continue
                    case .timeout: break poll
                    }
                }
            }
            let connected = peers.allSatisfy { if case .connected = $0.state { true } else { false } }
            if connected { return }
            now = now + .milliseconds(5)
        }
        throw BenchmarkError("two peers did not connect")
    }
}
