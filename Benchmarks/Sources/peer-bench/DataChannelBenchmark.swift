import CReference
import IoTCore
import NIOCore
import PeerTransport

/// One data channel between two connections in memory, both sides on one core: SCTP, DTLS and the rest of the stack,
/// without the kernel. The reference seals and opens as many bytes in DTLS-sized packets, the minimum for any data
/// channel.
enum DataChannelBenchmark {
    static func run() throws {
        print("| data channel, both sides on one core | MB/s | CPU, µs per packet of 1.1 kB |\n| --- | --- | --- |")
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

    /// Bytes of payload per second of CPU.
    private static func measure(messageSize: Int, total: Int, _ isOrdered: Bool) throws -> Double {
        var pair = try PeerPair { $1.dataChannels = DataChannelConfiguration() }
        let channel = try pair.peers[0].openDataChannel(
            label: "bench", options: DataChannelOptions(isOrdered: isOrdered), at: pair.now)
        try pair.connect()
        var isOpen = false
        var received = 0
        /// Exchanges the available datagrams once; returns whether there were any.
        func exchange() -> Bool {
            pair.exchange { index, event in
                switch event {
                case .dataChannelOpened: if index == 1 { isOpen = true }
                case .dataChannelMessage(_, let message): received += message.byteCount
                default: break
                }
            }.hasMoved
        }
        for _ in 0..<1_000 where !isOpen {
            pair.handleTimeouts()
            while exchange() {}
            pair.now = pair.now + .milliseconds(5)
        }
        guard isOpen else { throw BenchmarkError("no data channel was opened") }

        let message = DataChannelMessage.binary(ByteBuffer(repeating: 7, count: messageSize))
        let start = reference_thread_cpu()
        var sent = 0
        while received < total {
            // Until the buffer is full or all is sent.
            while sent < total, (try? pair.peers[0].send(message, on: channel.id, at: pair.now)) != nil {
                sent += messageSize
            }
            if !exchange() { pair.handleTimeouts() }
            pair.now = pair.now + .microseconds(200)
        }
        return Double(received) * 1e9 / Double(reference_thread_cpu() - start)
    }
}
