import IoTCore
import IoTLink
import LANLink
import NIOCore

extension FuzzTarget {
    /// The bytes of a gateway's connection on the local network, and the grant in its first message: the same requests
    /// however the bytes are cut, none of them names who asks, and few run at a time.
    static let lan = FuzzTarget(
        "lan",
        cost: ReadingCost { input in
            _ = outcome(of: input, cut: input.count)
            _ = LANGrantClaims.device(of: String(decoding: input, as: UTF8.self))
        }
    ) { input in
        let whole = outcome(of: input, cut: input.count)
        for cut in [1, 3, 64] {
            try require(outcome(of: input, cut: cut) == whole, "cut into \(cut) bytes, it reads differently")
        }
        for case .asked(let request, let time) in whole.events {
            try require(
                request.from == nil && request.actingAs == nil && request.grant == nil, "a request says who asks")
            try require(time >= .milliseconds(1) && time <= .minutes(10), "a request waits \(time)")
        }
        try require(whole.running <= LANExchange.mostRunning, "\(whole.running) requests run")
    }

    private struct Outcome: Equatable {
        var events: [LANExchange.Event] = []
        var code: ErrorCode?

        var running: Int { events.count { if case .asked = $0 { true } else { false } } }
    }

    private static func outcome(of input: [UInt8], cut size: Int) -> Outcome {
        var outcome = Outcome()
        var frames = LANFrames(limit: 8_192)
        var exchange = LANExchange()
        do {
            for start in stride(from: 0, to: input.count, by: max(1, size)) {
                frames.append(ByteBuffer(bytes: input[start..<min(start + max(1, size), input.count)]))
                while let message = try frames.next() {
                    outcome.events.append(try exchange.receive(message, at: .uptimeNanoseconds(1)))
                }
            }
        } catch {
            outcome.code = error.code
        }
        return outcome
    }
}
