import Foundation
import Testing

/// Kills processes and unplugs cables, in an order that a seed determines, while writers write.
///
/// `CHAOS_SEED` (42) and `CHAOS_SECONDS` (60) change the defaults; a failed run's seed repeats its faults.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ChaosTests {
    private static func environment(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// The longest time from the end of the last fault until everything works again: the pauses of a session that is
    /// lost every few seconds (6 s after 5 doublings) and 10 s for an attempt that gets no answer, several times each.
    private static let settling = Duration.seconds(45)

    @Test("Whatever is killed, no acknowledged write is lost, every answer is for its request, and every box returns")
    func chaos() async throws {
        let seed = UInt64(clamping: Self.environment("CHAOS_SEED") ?? 42)
        let seconds = Self.environment("CHAOS_SECONDS") ?? 60
        print("chaos: CHAOS_SEED=\(seed) CHAOS_SECONDS=\(seconds)")
        let site = try await ChaosSite()
        try await settle(site)
        var writers = [
            ChaosWriter(number: 1, device: "front", target: .user("c1"), home: .hub, site: site, seed: seed),
            ChaosWriter(number: 2, device: "yard", target: .user("c2"), home: .gateway, site: site, seed: seed),
            ChaosWriter(
                number: 3, device: "yard", target: .writable("_cloudStoage", member: "utcExpire"), home: .hub,
                site: site, seed: seed),
            ChaosWriter(
                number: 4, device: "yard", target: .writable("_otaMode"), home: .gateway, site: site, seed: seed),
            ChaosWriter(
                number: 5, device: "front", target: .writable("_otaMode"), home: .gateway, site: site, seed: seed),
            ChaosWriter(number: 6, device: "front", target: .user("c6"), home: .gateway, site: site, seed: seed),
        ]
        for index in writers.indices { await writers[index].prepare() }
        let (rounds, settlings) = try await run(&writers, site, seed: seed, for: .seconds(seconds))

        var figures = ChaosWriter.Figures()
        for index in writers.indices {
            await writers[index].read(at: .hub)
            await writers[index].read(at: .gateway)
            for problem in writers[index].problems { Issue.record("seed \(seed): \(problem)") }
            #expect(writers[index].figures.acknowledged > 0, "writer \(writers[index].number) was never answered")
            figures += writers[index].figures
        }
        let sorted = settlings.sorted()
        print("chaos: \(rounds) rounds, \(figures)")
        print(
            "chaos: right again after \(sorted[sorted.count / 2]) (half of the rounds), \(sorted[sorted.count - 1]) (all)"
        )
        print("chaos: a killed camera's device was offline after \(site.departureTimes.sorted())")
        await site.stop()
    }

    /// Runs the faults and the writers together; returns when the writers have finished.
    private func run(
        _ writers: inout [ChaosWriter], _ site: ChaosSite, seed: UInt64, for time: Duration
    ) async throws -> (rounds: Int, settlings: [Duration]) {
        let clock = ContinuousClock()
        let started = writers
        var finished: [ChaosWriter] = []
        var plan = ChaosPlan(seed: seed)
        var rounds = 0
        var settlings: [Duration] = []
        try await withThrowingTaskGroup(of: ChaosWriter.self) { group in
            for writer in started {
                group.addTask {
                    var writer = writer
                    await writer.run()
                    return writer
                }
            }
            let end = clock.now + time
            while clock.now < end {
                rounds += 1
                let strikes = plan.nextRound()
                print("chaos: round \(rounds): \(strikes)")
                try await strike(strikes, site)
                settlings.append(try await settle(site))
                print("chaos: round \(rounds): right after \(settlings[settlings.count - 1])")
            }
            group.cancelAll()
            for try await writer in group { finished.append(writer) }
        }
        writers = finished
        return (rounds, settlings)
    }

    /// Returns when the effect of every fault has ended.
    private func strike(_ strikes: [ChaosPlan.Strike], _ site: ChaosSite) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for strike in strikes {
                group.addTask {
                    try await ContinuousClock().sleep(for: strike.delay)
                    try await site.strike(strike)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until every session, the broker and every presence are as they must be.
    @discardableResult
    private func settle(_ site: ChaosSite) async throws -> Duration {
        let clock = ContinuousClock()
        let begin = clock.now
        var told: [String] = []
        while true {
            let troubles = await site.troubles()
            let took = clock.now - begin
            if troubles.isEmpty { return took }
            if took > .seconds(3), troubles != told {
                print("chaos: after \(took): \(troubles)")
                told = troubles
            }
            try #require(
                took < Self.settling, "\(took) after the last fault: \(troubles)\n\(site.log(.hub).suffix(2_000))")
            try await clock.sleep(for: .milliseconds(20))
        }
    }
}
