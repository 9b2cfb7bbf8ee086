package import NIOCore
import TestSupport

extension SeededGenerator {
    /// From 0 up to, not including, 1.
    mutating func unit() -> Double {
        Double(next() >> 11) / Double(1 << 53)
    }
}

/// One direction of a network, in virtual time: what goes in comes out later, or twice, or never. It owns no clock;
/// the same seed and the same calls give the same outcome.
package struct VirtualLink<Datagram> {
    package struct Configuration {
        /// Between sending and arrival, at the least.
        package var delay: TimeAmount = .zero

        /// Added to it, evenly distributed from 0 to this.
        package var jitter: TimeAmount = .zero

        /// Each datagram's probability of being lost.
        package var loss = 0.0

        /// The average number of datagrams lost in a row (a Gilbert model); 1: each on its own.
        package var lossBurst = 1.0

        /// Each datagram's probability of arriving twice.
        package var duplication = 0.0

        /// Each datagram's probability of overtaking: it comes without its share of the jitter.
        package var reordering = 0.0

        /// False lets jitter reorder, as on a path with parallel ways; true makes a delayed one hold up the others.
        package var keepsOrder = false

        /// Bits a second; nil: without limit.
        package var rate: Double?

        /// What may wait for its turn at that rate, bytes; what comes to a full queue is lost.
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

    /// When the next datagram arrives; nil: none is under way.
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
        // Two states: the chance to leave the losing one gives the burst's length, the chance to enter it the loss.
        let leave = 1 / configuration.lossBurst
        let enter = leave * configuration.loss / max(1 - configuration.loss, 1e-9)
        isLosing = generator.unit() < (isLosing ? 1 - leave : enter)
        return isLosing
    }
}
