import NIOCore
import RTP

/// Records when a transport's packets arrive, and reports this to their sender (transport-wide feedback).
///
/// A message is sent 50 to 100 ms after the first packet that it reports: the more packets, the sooner. Each message
/// begins with the packets that came too late for the last one and that it reported as missing, because two messages
/// can overtake each other.
struct ArrivalRecorder: Sendable {
    private var unwrapper = SequenceUnwrapper<UInt16>()

    /// Packets that no message has reported yet, in order of arrival.
    private var arrivals: [(number: Int64, time: NIODeadline)] = []

    /// The first number that no message has covered.
    private var next: Int64?
    private var firstPending: NIODeadline?
    private var feedbackCount: UInt8 = 0

    private static let interval = TimeAmount.milliseconds(100)
    private static let shortInterval = TimeAmount.milliseconds(50)

    /// With this many packets, a message is due after the short interval; with `maximumPending`, at once.
    private static let packetsForShortInterval = 25
    private static let maximumPending = 400

    /// A greater jump starts a new recording.
    private static let largestJump: Int64 = 8_192

    /// Statuses in one message. At three bytes each, they fit a datagram.
    private static let maximumStatuses: Int64 = 350

    /// A packet up to this many numbers before the last reported one counts as late, not as lost.
    private static let maximumLateness: Int64 = 128

    init() {}

    mutating func note(_ sequenceNumber: UInt16, at now: NIODeadline) {
        guard arrivals.count < 2 * Self.maximumPending else { return }
        var number = unwrapper.peek(sequenceNumber)
        if let last = unwrapper.last, abs(number - last) > Self.largestJump {
            self = ArrivalRecorder(continuing: feedbackCount)
            number = unwrapper.peek(sequenceNumber)
        }
        if number > unwrapper.last ?? .min { _ = unwrapper.unwrap(sequenceNumber) }
        if firstPending == nil { firstPending = now }
        arrivals.append((number, now))
    }

    private init(continuing count: UInt8) {
        feedbackCount = count
    }

    /// When messages are due; `nil` while no packet has arrived.
    var deadline: NIODeadline? {
        guard let firstPending else { return nil }
        if arrivals.count >= Self.maximumPending { return firstPending }
        return firstPending
            + (arrivals.count >= Self.packetsForShortInterval ? Self.shortInterval : Self.interval)
    }

    /// The messages that are due, each for one datagram.
    mutating func messages(at now: NIODeadline, senderSSRC: UInt32, mediaSSRC: UInt32) -> [RTCPTransportWideFeedback] {
        guard let deadline, now >= deadline else { return [] }
        let sorted = arrivals.sorted { $0.number < $1.number }
        arrivals.removeAll(keepingCapacity: true)
        firstPending = nil
        let start = next ?? sorted[0].number
        var messages: [RTCPTransportWideFeedback] = []
        var rest = sorted.drop { $0.number < start - Self.maximumLateness }
        var base = min(start, rest.first?.number ?? start)
        while let last = rest.last, base <= last.number {
            let end = min(base + Self.maximumStatuses, last.number + 1)
            let part = rest.prefix { $0.number < end }
            rest = rest.dropFirst(part.count)
            base = append(Array(part), from: base, senderSSRC, mediaSSRC, to: &messages, until: end)
        }
        next = max(base, start)
        return messages
    }

    /// Adds a message about the packets from `base` on, and another one where the time step does not fit.
    ///
    /// - Returns: the number after the last one covered.
    @discardableResult
    private mutating func append(
        _ packets: [(number: Int64, time: NIODeadline)], from base: Int64, _ senderSSRC: UInt32, _ mediaSSRC: UInt32,
        to messages: inout [RTCPTransportWideFeedback], until end: Int64? = nil
    ) -> Int64 {
        var next = base
        var message: RTCPTransportWideFeedback?
        var lastTick: Int64 = 0
        for packet in packets {
            // A duplicate: the first arrival counts.
            guard packet.number >= next else { continue }
            let tick = Int64(packet.time.uptimeNanoseconds / 250_000)
            if message == nil || Int16(exactly: tick - lastTick) == nil {
                if let message { messages.append(message) }
                let reference = tick >> 8
                lastTick = reference << 8
                message = RTCPTransportWideFeedback(
                    senderSSRC: senderSSRC, mediaSSRC: mediaSSRC,
                    baseSequenceNumber: UInt16(truncatingIfNeeded: next),
                    referenceTime: Int32(truncatingIfNeeded: reference << 8) >> 8, feedbackCount: feedbackCount,
                    statuses: [])
                feedbackCount &+= 1
            }
            message?.statuses.append(contentsOf: repeatElement(.missing, count: Int(packet.number - next)))
            message?.statuses.append(.received(delta: Int16(truncatingIfNeeded: tick - lastTick)))
            lastTick = tick
            next = packet.number + 1
        }
        if let end, next < end, message != nil {
            message?.statuses.append(contentsOf: repeatElement(.missing, count: Int(end - next)))
            next = end
        }
        if let message { messages.append(message) }
        return end ?? next
    }
}
