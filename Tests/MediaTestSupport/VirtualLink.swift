package import NIOCore
import TestSupport

extension SeededGenerator {
    /// A number from 0 up to, but not including, 1.
    mutating func unit() -> Double {
        Double(next() >> 11) / Double(1 << 53)
    }
}

/// One direction of a network in virtual time: datagrams are delayed, duplicated or lost. It has no clock; the same
/// seed and the same calls have the same result.
package struct VirtualLink<Datagram> {
    package struct Configuration {
        /// The minimum time from sending to arrival.
        package var delay: TimeAmount = .zero

        /// The maximum additional delay, uniformly distributed from 0.
        package var jitter: TimeAmount = .zero

        /// The probability that a datagram is lost.
        package var loss = 0.0

        /// The average number of datagrams lost in a row (a Gilbert model); 1 means independent losses.
        package var lossBurst = 1.0

        /// The probability that a datagram arrives twice.
        package var duplication = 0.0

        /// The probability that a datagram overtakes others: it has no jitter.
        package var reordering = 0.0

        /// If false, jitter reorders datagrams, as on a network with parallel paths. If true, a delayed datagram delays
        /// the following ones.
        package var keepsOrder = false

        /// Bits per second; nil means no limit.
        package var rate: Double?

        /// The size of the queue before the rate limit in bytes; datagrams that do not fit are lost.
        package var queueLimit = 256 * 1024

        package var seed: UInt64 = 1

        package init(
            delay: TimeAmount = .zero, jitter: TimeAmount = .zero, loss: Double = 0, lossBurst: Double = 1,
            duplication: Double = 0, reordering: Double = 0, keepsOrder: Bool = false, rate: Double? = nil,
            queueLimit: Int = 256 * 1024, seed: UInt64 = 1
        ) {
            self.delay = delay
            self.jitter = jitter
            self.loss = loss
            self.lossBurst = lossBurst
            self.duplication = duplication
            self.reordering = reordering
            self.keepsOrder = keepsOrder
            self.rate = rate
            self.queueLimit = queueLimit
            self.seed = seed
        }
    }

    package var configuration: Configuration
    private var generator: SeededGenerator
    private var inFlight: [(arrival: NIODeadline, number: UInt64, datagram: Datagram)] = []
    private var number: UInt64 = 0
    private var isLosing = false
    private var lineFreeAt = NIODeadline.uptimeNanoseconds(0)
    private var lastArrival = NIODeadline.uptimeNanoseconds(0)

    package private(set) var sentCount = 0
    package private(set) var lostCount = 0

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        generator = SeededGenerator(seed: configuration.seed)
    }

    /// When the next datagram arrives; nil if none is in flight.
    package var nextArrival: NIODeadline? { inFlight.first?.arrival }

    package mutating func send(_ datagram: Datagram, size: Int, at now: NIODeadline) {
        sentCount += 1
        guard !loses() else {
            lostCount += 1
            return
        }
        var departure = now
        if let rate = configuration.rate {
            let begin = max(now, lineFreeAt)
            let waiting = Double((begin - now).nanoseconds) / 1e9 * rate / 8
            guard waiting + Double(size) <= Double(configuration.queueLimit) else {
                lostCount += 1
                return
            }
            departure = begin + .nanoseconds(Int64(Double(size) * 8 / rate * 1e9))
            lineFreeAt = departure
        }
        deliver(datagram, departed: departure)
        if configuration.duplication > 0, generator.unit() < configuration.duplication {
            deliver(datagram, departed: departure)
        }
    }

    /// The next datagram that has arrived by now.
    package mutating func receive(at now: NIODeadline) -> Datagram? {
        guard let first = inFlight.first, first.arrival <= now else { return nil }
        return inFlight.removeFirst().datagram
    }

    private mutating func deliver(_ datagram: Datagram, departed: NIODeadline) {
        var jitter = Int64(Double(configuration.jitter.nanoseconds) * generator.unit())
        if configuration.reordering > 0, generator.unit() < configuration.reordering { jitter = 0 }
        var arrival = departed + configuration.delay + .nanoseconds(jitter)
        if configuration.keepsOrder { arrival = max(arrival, lastArrival) }
        lastArrival = max(arrival, lastArrival)
        number += 1
        let place = inFlight.lastIndex { $0.arrival <= arrival }.map { $0 + 1 } ?? 0
        inFlight.insert((arrival, number, datagram), at: place)
    }

    private mutating func loses() -> Bool {
        guard configuration.loss > 0 else { return false }
        guard configuration.lossBurst > 1 else { return generator.unit() < configuration.loss }
        // Two states: the probability of leaving the lossy state determines the burst length, and that of entering it
        // the loss.
        let leave = 1 / configuration.lossBurst
        let enter = leave * configuration.loss / max(1 - configuration.loss, 1e-9)
        isLosing = generator.unit() < (isLosing ? 1 - leave : enter)
        return isLosing
    }
}
