import IoTCore
import RecordingStore
import Testing

@testable import MediaChannel

/// The replay against a timeline in memory, with frames of 40 ms.
@Suite("Replaying what happened")
struct PlaybackReplayTests {
    private struct Rig {
        static let start: Int64 = 1_795_500_000_000_000
        var replay = PlaybackReplay()
        var now: Int64 = 0
        /// By their time after `start`, µs.
        var timeline: [(time: Int64, name: String)] = []
        /// How many reads fail.
        var failures = 0
        var reads = 0
        var told: [(at: Int64, mode: ReplayMode, names: [String])] = []
        /// The newest time that the index has, µs after `start`.
        var known = Int64.max / 4

        mutating func play(from: Double, to: Double, step: Double = 0.04) {
            for time in stride(from: from, to: to, by: step) { frame(time) }
        }

        mutating func frame(_ seconds: Double) {
            now += 40_000
            let time = Int64(seconds * 1_000_000)
            var outputs = replay.played(Self.start + time, at: now)
            while !outputs.isEmpty {
                switch outputs.removeFirst() {
                case .tell(let mode, let items): told.append((time, mode, items.map(\.name)))
                case .read(let want, let generation):
                    reads += 1
                    if failures > 0 {
                        failures -= 1
                        replay.readFailed(generation: generation, at: now)
                    } else {
                        outputs += replay.receive(page(want), generation: generation, at: now)
                    }
                }
            }
        }

        private func page(_ want: ReplayWant) -> ReplayPage {
            func item(_ entry: (time: Int64, name: String)) -> ReplayItem {
                ReplayItem(time: Self.start + entry.time, kind: .event, name: entry.name, value: [:])
            }
            switch want {
            case .state(let time):
                let time = min(time, Self.start + known)
                let state = timeline.last { Self.start + $0.time <= time }.map { item((0, "state \($0.name)")) }
                return ReplayPage(
                    items: state.map { [$0] } ?? [], end: TimelinePlace(after: time), known: time)
            case .following(let place, let until):
                let all = timeline.filter {
                    Self.start + $0.time > place.time && Self.start + $0.time < until && $0.time <= known
                }
                let items = all.prefix(64).map(item)
                return ReplayPage(
                    items: items, end: items.last.map { TimelinePlace(after: $0.time) } ?? place,
                    known: all.count > 64
                        ? items.last?.time ?? place.time : min(until, Self.start + known))
            }
        }

        var names: [String] { told.flatMap(\.names) }
    }

    @Test("A seek tells what holds then, once; after it each thing comes with the first frame that is not older")
    func seek() {
        var rig = Rig()
        rig.timeline = [(1_000_000, "a"), (14_000_000, "b"), (15_010_000, "c"), (15_020_000, "d"), (90_000_000, "e")]
        rig.replay.seek(to: Rig.start + 14_500_000)
        // From the key frame before.
        rig.play(from: 13, to: 14.49)
        #expect(rig.told.isEmpty && rig.reads == 0)
        rig.play(from: 14.5, to: 20)
        #expect(rig.told.map(\.mode) == [.overwrite, .append])
        #expect(rig.told.map(\.names) == [["state b"], ["c", "d"]])
        #expect(abs(rig.told[0].at - 14_500_000) < 1 && rig.told[1].at - 15_020_000 <= 40_000)

        rig.replay.seek(to: Rig.start + 1_000_000)
        rig.play(from: 1, to: 20)
        #expect(rig.told.dropFirst(2).map(\.mode) == [.overwrite, .append, .append])
        #expect(rig.told.dropFirst(2).flatMap(\.names) == ["state a", "b", "c", "d"])
        rig.replay.stop()
        rig.play(from: 20, to: 100)
        #expect(!rig.names.contains("e"))
    }

    @Test("What happened while nothing was recorded is told after it, unless that took more than an hour")
    func gaps() {
        var rig = Rig()
        rig.timeline = [(1_000_000, "a"), (600_000_000, "b"), (5_000_000_000, "c"), (6_000_000_000, "d")]
        rig.replay.seek(to: Rig.start)
        rig.play(from: 0, to: 5)
        rig.play(from: 1_200, to: 1_205)
        #expect(rig.told.map(\.names) == [[], ["a"], ["b"]] && rig.told[0].mode == .overwrite)
        rig.play(from: 7_000, to: 7_005)
        #expect(rig.told.last?.mode == .overwrite && rig.told.last?.names == ["state d"] && rig.told.count == 4)
        // The file before it is played next.
        rig.play(from: 3_000, to: 3_005)
        #expect(rig.told.last?.mode == .overwrite && rig.told.last?.names == ["state b"] && rig.told.count == 5)
    }

    @Test("Thousands of things come in order, once, while a bounded number of them waits")
    func many() {
        var rig = Rig()
        rig.timeline = (1...5_000).map { (Int64($0) * 10_000, "\($0)") }
        rig.replay.seek(to: Rig.start)
        rig.play(from: 0, to: 51)
        #expect(rig.names == (1...5_000).map(String.init))
        #expect(rig.reads < 5_000 / 64 + 60)
    }

    @Test("At the highest speed, with a frame each ten seconds, everything is told in time")
    func fast() {
        var rig = Rig()
        rig.timeline = (1...2_000).map { (Int64($0) * 1_000_000, "\($0)") }
        rig.replay.seek(to: Rig.start)
        rig.play(from: 0, to: 2_020, step: 10)
        #expect(rig.names == (1...2_000).map(String.init))
        #expect(
            rig.told.dropFirst().allSatisfy { told in
                told.names.allSatisfy { told.at - Int64($0)! * 1_000_000 < 10_000_000 }
            })
    }

    @Test("What gets known late is told late; an unreadable index is asked again, once a second")
    func late() {
        var rig = Rig()
        rig.timeline = [(1_000_000, "a")]
        rig.known = 0
        rig.failures = 3
        rig.replay.seek(to: Rig.start)
        rig.play(from: 0, to: 4)
        #expect(rig.told.map(\.mode) == [.overwrite] && rig.reads < 8)
        rig.known = 2_000_000
        rig.play(from: 4, to: 6)
        #expect(rig.names == ["a"])
    }
}
