import NIOCore

/// Loss and jitter of one source (RFC 3550 §A.3, §A.8).
struct ReceptionStatistics: Sendable {
    private var base: Int64
    private(set) var highest: Int64
    private var received: Int64 = 0
    private var expectedPrior: Int64 = 0
    private var receivedPrior: Int64 = 0

    /// In 1/16 tick, as in §A.8.
    private var jitter: Int64 = 0
    private var lastTransit: Int64?
    private let clock: RTPClock

    /// Sequence numbers are unwrapped.
    init(first: Int64, clock: RTPClock) {
        base = first
        highest = first
        self.clock = clock
    }

    private var expected: Int64 { highest - base + 1 }

    /// Negative if duplicates outnumber the losses.
    var lost: Int64 { expected - received }

    /// Seconds.
    var jitterSeconds: Double { Double(jitter) / 16 / Double(clock.rate) }

    /// - Parameter isTimely: false for a retransmission, because its arrival does not reflect the network's jitter.
    mutating func note(number: Int64, timestamp: Int64, arrival: NIODeadline, isTimely: Bool) {
        received += 1
        base = min(base, number)
        highest = max(highest, number)
        guard isTimely else { return }
        let arrivalTicks = clock.ticks(ofMicroseconds: Int64(arrival.uptimeNanoseconds / 1_000))
        let transit = arrivalTicks &- timestamp
        if let lastTransit {
            let difference = min((transit &- lastTransit).magnitude, UInt64(Int32.max))
            jitter += Int64(difference) - (jitter + 8) >> 4
        }
        lastTransit = transit
    }

    /// The report block. Starts a new interval.
    mutating func report(ssrc: UInt32, lastSenderReport: UInt32, delay: UInt32) -> RTCPReceptionReport {
        let expectedInterval = expected - expectedPrior
        let receivedInterval = received - receivedPrior
        expectedPrior = expected
        receivedPrior = received
        let lostInterval = expectedInterval - receivedInterval
        let fraction = expectedInterval > 0 && lostInterval > 0 ? min(lostInterval * 256 / expectedInterval, 255) : 0
        return RTCPReceptionReport(
            ssrc: ssrc, fractionLost: UInt8(fraction),
            cumulativeLost: Int32(min(max(lost, -0x80_0000), 0x7F_FFFF)),
            highestSequence: UInt32(truncatingIfNeeded: highest), jitter: UInt32(clamping: jitter >> 4),
            lastSenderReport: lastSenderReport, delaySinceLastSenderReport: delay)
    }
}
