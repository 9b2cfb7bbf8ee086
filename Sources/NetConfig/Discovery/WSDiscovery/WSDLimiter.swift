import IoTCore
import NIOCore

/// Limits a responder's answers: one for each message, and a maximum for each address and in total.
///
/// Its storage is bounded; if it is full, new messages are refused, and older ones are kept.
struct WSDLimiter {
    private struct MessageKey: Hashable {
        var peer: IPAddress
        var id: String
    }

    private struct Bucket {
        var tokens: Double
        var time: NIODeadline
    }

    private var answered: [MessageKey: NIODeadline] = [:]
    private var buckets: [IPAddress: Bucket] = [:]
    private var all: Bucket?

    /// A message's repetitions arrive within 2 s.
    private static let memory = TimeAmount.seconds(10)
    static let messages = 1024
    static let addresses = 256
    /// Messages from one address: at once, and for each second. Our own search sends two a second.
    static let burst = 8.0
    static let rate = 2.0
    /// Messages from all addresses.
    static let totalBurst = 64.0
    static let totalRate = 20.0

    mutating func admits(_ id: String, from peer: WSDResponder.Peer, at now: NIODeadline) -> Bool {
        let key = MessageKey(peer: peer.address, id: id)
        guard answered[key] == nil else { return false }
        if answered.count >= Self.messages || buckets.count >= Self.addresses { sweep(now) }
        guard answered.count < Self.messages, buckets.count < Self.addresses || buckets[peer.address] != nil else {
            return false
        }
        var total = Self.filled(all, Self.totalBurst, Self.totalRate, now)
        var own = Self.filled(buckets[peer.address], Self.burst, Self.rate, now)
        guard total.tokens >= 1, own.tokens >= 1 else { return false }
        total.tokens -= 1
        own.tokens -= 1
        all = total
        buckets[peer.address] = own
        answered[key] = now
        return true
    }

    private static func filled(_ bucket: Bucket?, _ burst: Double, _ rate: Double, _ now: NIODeadline) -> Bucket {
        guard let bucket else { return Bucket(tokens: burst, time: now) }
        let seconds = Double((now - bucket.time).nanoseconds) / 1e9
        return Bucket(tokens: min(burst, bucket.tokens + max(0, seconds) * rate), time: now)
    }

    /// Removes old messages, and addresses with full buckets.
    private mutating func sweep(_ now: NIODeadline) {
        answered = answered.filter { now - $0.value < Self.memory }
        buckets = buckets.filter { Self.filled($0.value, Self.burst, Self.rate, now).tokens < Self.burst }
    }
}
