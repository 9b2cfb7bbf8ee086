import CReference
import IoTCore
import NIOCore
import PeerTransport

/// One data channel between two connections in memory, both sides on one core: SCTP, DTLS and all that is round them,
/// without the kernel. The reference seals and opens as many bytes in DTLS-sized packets, which no data channel can do
/// without.
enum DataChannelBenchmark {
    static func run() throws {
        print("| data channel, both sides on one core | MB/s | CPU, µs a packet of 1.1 kB |\n| --- | --- | --- |")
        for (name, size, isOrdered) in [
            ("messages of 64,000 bytes", 64_000, true), ("messages of 1,000 bytes", 1_000, true),
            ("messages of 1,000 bytes, unordered", 1_000, false), ("messages of 100 bytes", 100, true),
        ] {
            let rate = try measure(messageSize: size, total: size < 1_000 ? 20_000_000 : 200_000_000, isOrdered)
            print("| \(name) | \((rate / 1e6).text(0)) | \((1128 / rate * 1e6).text(2)) |")
        }
        let seal = reference_seal(0, 200_000)
        print(
            "| reference: AES-128-GCM alone, sealed and opened | \((1200 / (2 * seal) * 1e3).text(0)) | "
                + "\((2 * seal / 1e3).text(2)) |\n")
    }

    /// Bytes of payload a second of CPU.
    private static func measure(messageSize: Int, total: Int, _ isOrdered: Bool) throws -> Double {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let addresses = try ["192.0.2.1", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 4000) }
        let peers = try (0...1).map { index in
            var configuration = PeerConfiguration(hostAddresses: [addresses[index]], isControlling: index == 0)
            configuration.dataChannels = DataChannelConfiguration()
            return PeerConnection(
                configuration: configuration, certificate: try PeerCertificate.generate(), now: now)
        }
        let channel = try peers[0].openDataChannel(
            label: "bench", options: DataChannelOptions(isOrdered: isOrdered), at: now)
        let offer = try peers[0].createOffer()
        try peers[0].setAnswer(try peers[1].createAnswer(to: offer))
        var isOpen = false
        var received = 0
        /// Takes what is there to take, once; true when something moved.
        func exchange() -> Bool {
            var moved = false
            for index in 0...1 {
                poll: while let output = peers[index].poll() {
                    switch output {
                    case .transmit(let datagram, _):
                        moved = true
                        peers[1 - index].receive(datagram, from: addresses[index], at: now)
                    case .event(.dataChannelOpened): if index == 1 { isOpen = true }
                    case .event(.dataChannelMessage(_, let message)): received += message.byteCount
                    case .event, .network: continue
                    case .timeout: break poll
                    }
                }
            }
            return moved
        }
        for _ in 0..<1_000 where !isOpen {
            for peer in peers { peer.handleTimeout(at: now) }
            while exchange() {}
            now = now + .milliseconds(5)
        }
        guard isOpen else { throw BenchmarkError("no data channel was opened") }

        let message = DataChannelMessage.binary(ByteBuffer(repeating: 7, count: messageSize))
        let start = reference_thread_cpu()
        var sent = 0
        while received < total {
            // Until there is no room, or all is sent.
            while sent < total, (try? peers[0].send(message, on: channel.id, at: now)) != nil { sent += messageSize }
            if !exchange() { for peer in peers { peer.handleTimeout(at: now) } }
            now = now + .microseconds(200)
        }
        return Double(received) * 1e9 / Double(reference_thread_cpu() - start)
    }
}
