import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import NetConfig

@Suite struct DiscoverySearchTests {
    private static let makers: [Fixture] = [.axis, .hikvision, .tpLink, .gsoap, .predator]

    private static func network(seed: UInt64, loss: Double, duration: TimeAmount = .seconds(3)) -> ProbedLAN {
        // Three boxes of four, four and two cameras: those of one box have one address.
        let cameras = (0..<10).map { AnnouncedCamera.numbered($0) }
        let strangers = makers.enumerated().map { index, fixture in
            ProbedLAN.Stranger(
                fixture: fixture, address: IPAddress("192.0.2.\(20 + 10 * index)")!, answersEverybody: index != 2)
        }
        return ProbedLAN(
            seed: seed, loss: loss, duration: duration,
            boxes: [Array(cameras[0..<4]), Array(cameras[4..<8]), Array(cameras[8...])], strangers: strangers)
    }

    @Test(
        "Ten cameras of ours and five of other makers are all listed and none twice, with a fifth of all datagrams lost",
        arguments: 1...50 as ClosedRange<UInt64>)
    func all(seed: UInt64) {
        var network = Self.network(seed: seed, loss: 0.2)
        network.run()
        let devices = network.table.devices
        #expect(devices.count == 15, "\(devices.map { $0.name ?? "-" })")
        #expect(Set(devices.compactMap(\.deviceID)).count == 10)
        #expect(devices.filter { $0.nextStep == .add }.count == 5)
    }

    @Test("Without loss the last is found within 750 ms, and a search of 3 s sends few datagrams")
    func quick() {
        for seed in 1...50 as ClosedRange<UInt64> {
            var network = Self.network(seed: seed, loss: 0)
            network.run()
            #expect(network.table.devices.count == 15)
            #expect(network.last <= .milliseconds(750), "seed \(seed)")
            #expect(network.probes <= 3 * 2 * WSDRepetition.multicast)
        }
    }

    @Test("A search asks for everybody and for video transmitters, each message four times, and ends in time")
    func probes() throws {
        let start = NIODeadline.uptimeNanoseconds(1)
        var prober = WSDProber(.seconds(30), from: start, random: SeededGenerator(seed: 1))
        var counts: [String: Int] = [:]
        var filters: Set<WSDFilter> = []
        var now = start
        while let next = prober.nextDeadline {
            now = next
            for datagram in prober.due(at: now) {
                let message = try WSDMessage(datagram)
                counts[message.id, default: 0] += 1
                if case .probe(let filter) = message.body { filters.insert(filter) }
            }
        }
        #expect(filters == [WSDFilter(), WSDFilter(types: [WSDNamespace.videoTransmitter])])
        #expect(counts.values.allSatisfy { $0 <= WSDRepetition.multicast })
        #expect(counts.values.filter { $0 == WSDRepetition.multicast }.count >= counts.count - 2)
        #expect(now - start <= .milliseconds(29_500))
    }
}
