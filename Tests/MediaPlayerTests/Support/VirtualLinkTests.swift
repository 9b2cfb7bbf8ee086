import MediaTestSupport
import NIOCore
import Testing

@Suite struct VirtualLinkTests {
    private func run(_ configuration: VirtualLink<Int>.Configuration, count: Int = 20_000) -> [(Int, NIODeadline)] {
        var link = VirtualLink<Int>(configuration)
        var arrived: [(Int, NIODeadline)] = []
        var now = NIODeadline.uptimeNanoseconds(0)
        for number in 0..<count {
            now = now + .milliseconds(1)
            link.send(number, size: 1_000, at: now)
            while let next = link.nextArrival, next <= now, let datagram = link.receive(at: next) {
                arrived.append((datagram, next))
            }
        }
        while let next = link.nextArrival, let datagram = link.receive(at: next) { arrived.append((datagram, next)) }
        return arrived
    }

    @Test("The same seed gives the same network, another seed another one")
    func seeded() {
        var configuration = VirtualLink<Int>.Configuration(delay: .milliseconds(5), jitter: .milliseconds(9))
        configuration.loss = 0.1
        let first = run(configuration, count: 500)
        let second = run(configuration, count: 500)
        configuration.seed = 2
        let other = run(configuration, count: 500)
        #expect(first.map(\.0) == second.map(\.0))
        #expect(first.map(\.1) == second.map(\.1))
        #expect(first.map(\.0) != other.map(\.0))
    }

    @Test("The link loses the configured share of packets", arguments: [1.0, 4.0])
    func loss(burst: Double) {
        let arrived = run(.init(loss: 0.05, lossBurst: burst)).map(\.0)
        #expect((0.042...0.058).contains(1 - Double(arrived.count) / 20_000))
        var runs = 0
        for (before, after) in zip(arrived, arrived.dropFirst()) where after - before > 1 { runs += 1 }
        let average = Double(20_000 - arrived.count) / Double(runs)
        #expect(abs(average - burst) < 0.15 * burst)
    }

    @Test("Delay and jitter stay within their limits; the order is kept only if configured")
    func delay() {
        let loose = run(.init(delay: .milliseconds(20), jitter: .milliseconds(30)))
        for (number, arrival) in loose {
            let transit = arrival - (NIODeadline.uptimeNanoseconds(0) + .milliseconds(Int64(number) + 1))
            #expect(transit >= .milliseconds(20) && transit <= .milliseconds(50))
        }
        #expect(loose.map(\.0) != loose.map(\.0).sorted())
        let ordered = run(.init(delay: .milliseconds(20), jitter: .milliseconds(30), keepsOrder: true))
        #expect(ordered.map(\.0) == Array(0..<20_000))
    }

    @Test("A slow link spreads a burst and drops packets that do not fit its queue")
    func rate() {
        var link = VirtualLink<Int>(.init(rate: 8_000_000, queueLimit: 10_000))
        for number in 0..<20 { link.send(number, size: 1_000, at: .uptimeNanoseconds(0)) }
        #expect(link.lostCount == 10)
        #expect(link.nextArrival == .uptimeNanoseconds(1_000_000))
        var last = NIODeadline.uptimeNanoseconds(0)
        while let next = link.nextArrival, link.receive(at: next) != nil { last = next }
        #expect(last == .uptimeNanoseconds(10_000_000))
    }

    @Test("The link duplicates the configured share of packets")
    func duplication() {
        let arrived = run(.init(duplication: 0.1))
        #expect((21_700...22_300).contains(arrived.count))
    }
}
