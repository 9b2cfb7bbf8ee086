import Foundation
import NIOCore
import Testing

@testable import LinkHub

/// A hub, a broker, boxes and cables that are killed and cut at seeded moments in virtual time.
@Suite(.serialized, .timeLimit(.minutes(10))) struct VirtualChaosTests {
    /// Three seeds, a minute of a debug build; `CHAOS_SEEDS=1000..<1100` runs others.
    private static let seeds: Range<UInt64> = {
        let bounds = (ProcessInfo.processInfo.environment["CHAOS_SEEDS"] ?? "").components(separatedBy: "..<")
        guard bounds.count == 2, let first = UInt64(bounds[0]), let end = UInt64(bounds[1]), first < end else {
            return 1..<4
        }
        return first..<end
    }()

    struct Outcome: Equatable {
        var faults = 0
        var acknowledged = 0
        var answered = 0
        var retried = 0
        var troubles: [String] = []
        var problems: [String] = []
    }

    /// - Parameter length: Of virtual time.
    private func run(
        seed: UInt64, pace: Int64, length: TimeAmount, answersEarly: Bool = false
    ) throws -> Outcome {
        let timing = ChaosTiming(pace: pace)
        var world = try ChaosWorld(seed: seed, timing: timing, answersEarly: answersEarly)
        var outcome = Outcome()
        let end = world.now + length
        func settle() throws {
            try world.run(until: world.now + timing.settling)
            outcome.troubles += try world.troubles()
            let late = try world.lateSettings()
            try world.run(until: world.now + timing.scaled(.seconds(1)))
            outcome.troubles += try world.lateSettings().intersection(late)
        }
        try settle()
        while world.now < end, outcome.troubles.isEmpty {
            world.strikeRound()
            // The last fault has just ended.
            while world.openFaults > 0 { try world.run(until: world.now + timing.scaled(.milliseconds(600))) }
            try settle()
        }
        outcome.faults = world.faults
        outcome.problems = try world.problems()
        for writer in world.boxes.flatMap(\.writers) {
            outcome.acknowledged += writer.acknowledged
            outcome.answered += writer.answered
            outcome.retried += writer.retried
        }
        return outcome
    }

    @Test(
        "Ten minutes, sixty times as fast: 2 s after the last fault all is correct, and nothing acknowledged is lost",
        arguments: seeds)
    func fast(seed: UInt64) throws {
        let outcome = try run(seed: seed, pace: 60, length: .minutes(10))
        print("virtual chaos: seed \(seed): \(outcome)")
        #expect(outcome.troubles == [], "seed \(seed)")
        #expect(outcome.problems == [], "seed \(seed)")
        #expect(outcome.faults > 200 && outcome.acknowledged > 1_000 && outcome.retried > 100, "\(outcome)")
    }

    @Test("An hour with the times of docs/link.md: two minutes after the last fault all is correct", arguments: 1..<6)
    func wholeTimes(seed: UInt64) throws {
        let outcome = try run(seed: seed, pace: 1, length: .hours(1))
        print("virtual chaos: whole times, seed \(seed): \(outcome)")
        #expect(outcome.troubles == [], "seed \(seed)")
        #expect(outcome.problems == [], "seed \(seed)")
        #expect(outcome.faults > 20 && outcome.acknowledged > 100, "\(outcome)")
    }

    @Test("The shadow model catches a hub that answers before its commit")
    func broken() throws {
        let outcome = try run(seed: 1, pace: 60, length: .minutes(4), answersEarly: true)
        #expect(outcome.problems.contains { $0.contains("was acknowledged") }, "\(outcome)")
    }

    @Test("A run repeats from its seed")
    func repeats() throws {
        let outcomes = try (0..<2).map { _ in try run(seed: 3, pace: 60, length: .minutes(1)) }
        #expect(outcomes[0] == outcomes[1])
        #expect(outcomes[0].acknowledged > 100)
    }
}
