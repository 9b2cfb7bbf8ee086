import CReference
import Logging
import NIOCore
import NIOPosix

/// Measures PeerTransport, with loops in C that move the same bytes as references, and prints Markdown tables.
@main
struct PeerBench {
    static let usage = """
        usage: peer-bench [srtp] [media] [fanout] [handshakes] [connect] [data]   (all when none is named)
          --frames 2000           media: how many
          --viewers 1,10,50,100   fanout: how many viewers
          --seconds 5             fanout: how long each
          --congestion both       media, fanout: off, as cameras call their own viewers; on, as browsers have it; or both
        """

    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        switch (arguments.first, numbers.count) {
        case ("viewers", 1): return try await ViewerProcess.run(count: numbers[0])
        // Frames, packets a frame, bytes a packet and the viewers' ports: the reference loop in C, for fanout.py.
        case ("reference", 4...): return referenceFanout(numbers)
        default: break
        }
        func value(_ name: String, _ standard: String) -> String {
            guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return standard }
            defer { arguments.removeSubrange(place...(place + 1)) }
            return arguments[place + 1]
        }
        let viewers = value("--viewers", "1,10,50,100").split(separator: ",").compactMap { Int($0) }
        let seconds = Int(value("--seconds", "5")) ?? 5
        let frames = Int(value("--frames", "2000")) ?? 2000
        let congestion = value("--congestion", "both")
        let known = ["srtp", "media", "fanout", "handshakes", "connect", "data"]
        guard arguments.allSatisfy(known.contains) else {
            print(usage)
            return
        }
        let wanted = arguments.isEmpty ? known : arguments
        if wanted.contains("srtp") { try SRTPBenchmark.run() }
        let settings = [false, true].filter { congestion == "both" || congestion == ($0 ? "on" : "off") }
        if wanted.contains("media") {
            for isControlled in settings { try MediaBenchmark.run(frames: frames, hasCongestionControl: isControlled) }
        }
        if wanted.contains("fanout") {
            for isControlled in settings {
                try await FanoutBenchmark.run(viewers: viewers, seconds: seconds, hasCongestionControl: isControlled)
            }
        }
        if wanted.contains("handshakes") { try HandshakeBenchmark.run() }
        if wanted.contains("connect") { try await ConnectBenchmark.run() }
        if wanted.contains("data") { try DataChannelBenchmark.run() }
    }

    private static func referenceFanout(_ numbers: [Int]) {
        let ports = numbers.dropFirst(3).map { UInt16(clamping: $0) }
        print(
            reference_fanout(
                ports, Int32(ports.count), Int32(numbers[0]), FanoutBenchmark.frameInterval.nanoseconds,
                Int32(numbers[1]), Int32(numbers[2])))
    }
}

/// The common part of the benchmarks.
enum Setting {
    static let logger = Logger(label: "peer-bench", factory: { _ in SwiftLogNoOpLogHandler() })
    static let loopback = "127.0.0.1"
}
