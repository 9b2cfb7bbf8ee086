import IoTCore
import Testing

@testable import MediaChannel

@Suite("Playing recordings for a caller")
struct PlaybackSessionTests {
    private func playing(
        _ strategy: PlaybackStrategy = .ascending, from second: Double = 0, items: [Int64] = [0, 10, 20],
        speed: Double = 1, length: Int64 = 10
    ) -> VirtualPlayback {
        var playback = VirtualPlayback(strategy, items: items, length: length)
        playback.perform { session, now in
            session.setSpeed(speed, at: now)
            session.seek(to: VirtualPlayback.start + Int64(second * 1_000_000), at: now)
        }
        return playback
    }

    /// Recorded time per time on the session's clock.
    private func speed(_ pictures: ArraySlice<VirtualPlayback.Sent>) -> Double {
        guard let first = pictures.first, let last = pictures.last, last.pts > first.pts else { return 0 }
        return Double(last.wall - first.wall) / Double(last.pts - first.pts)
    }

    @Test("Across three files, each picture and sound comes once, in order and at its time")
    func complete() {
        var playback = playing()
        playback.run(40)
        #expect(playback.pictures.map(\.wall) == (0..<750).map { Int64($0) * 40_000 })
        #expect(playback.sent.filter { $0.kind == .audio }.map(\.wall) == (0..<1_500).map { Int64($0) * 20_000 })
        #expect(playback.sent.allSatisfy { $0.at == $0.pts && $0.pts - $0.wall == 1_000 })
        let files = playback.events.filter { if case .position = $0 { false } else { true } }
        let names = files.map { event in
            switch event {
            case .willBeginFile(let item): "begin \(item.id)"
            case .didEndFile(let item, let error): "end \(item.id)\(error == nil ? "" : "!")"
            case .finished(nil): "finished"
            default: "?"
            }
        }
        #expect(names == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3", "finished"])
        #expect(playback.events.count - files.count == 30)
        #expect(playback.largestWait == 1)
    }

    @Test("Up to twice the speed within 2 %, above within 5 %", arguments: [0.25, 0.5, 1, 1.5, 2, 4, 8, 16, 32])
    func speed(_ wanted: Double) {
        var playback = playing(items: [0, 600], speed: wanted, length: 600)
        playback.run(10)
        let measured = speed(playback.pictures.dropFirst())
        #expect(abs(measured / wanted - 1) < (wanted <= 2 ? 0.02 : 0.05))
        #expect(playback.sent.contains { $0.kind == .audio } == (wanted == 1))
        let isFast = wanted > 2
        #expect(playback.pictures.allSatisfy { !isFast || $0.wall % 2_000_000 == 0 })
    }

    @Test("A change of the speed leaves no picture out and sends none twice")
    func speedChanges() {
        var playback = playing(items: [0], length: 60)
        playback.run(3)
        playback.perform { $0.setSpeed(8, at: $1) }
        playback.run(2)
        let before = playback.pictures.count
        playback.perform { $0.setSpeed(1, at: $1) }
        playback.run(3)
        let walls = playback.pictures.map(\.wall)
        #expect(zip(walls, walls.dropFirst()).allSatisfy { $0 < $1 })
        let after = walls[(before - 1)...]
        #expect(after.count > 70 && zip(after, after.dropFirst()).allSatisfy { $1 - $0 == 40_000 })
    }

    @Test("A seek sends the key frame at once, and what is before the sought time fast")
    func seek() {
        var playback = playing()
        playback.run(2)
        playback.perform { $0.seek(to: VirtualPlayback.start + 25_500_000, at: $1) }
        let (count, time) = (playback.sent.count, playback.now)
        playback.run(3)
        let after = playback.sent[count...].filter { $0.kind == .video }
        #expect(after.first?.wall == 24_000_000 && after.first?.at == time + 1_000)
        let sought = after.first { $0.wall >= 25_500_000 }
        #expect(sought.map { $0.at - time } ?? 0 < 120_000)
        #expect(zip(after, after.dropFirst()).allSatisfy { $1.wall - $0.wall == 40_000 && $0.pts < $1.pts })
        #expect(playback.sent[count...].allSatisfy { $0.kind == .video || $0.wall >= 25_500_000 })
        #expect(playback.events.contains { if case .willBeginFile(let item) = $0 { item.id == 3 } else { false } })
    }

    @Test("A gap is told and skipped")
    func gap() {
        var playback = playing(items: [0, 3_600])
        playback.run(15)
        let gaps = playback.events.compactMap { if case .gap(let times) = $0 { times } else { nil } }
        #expect(gaps == [VirtualPlayback.start + 10_000_000..<VirtualPlayback.start + 3_600_000_000])
        let pictures = playback.pictures
        #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $1.pts - $0.pts <= 60_000 })
        #expect(pictures.last.map { $0.wall > 3_604_000_000 } ?? false)
    }

    @Test("A pause stops everything; steps show one picture each, also after a seek")
    func pause() {
        var playback = playing()
        playback.run(2)
        playback.perform { $0.pause(at: $1) }
        let paused = playback.sent.count
        playback.run(5)
        #expect(playback.sent.count == paused)
        playback.perform { $0.step(at: $1) }
        playback.perform { $0.step(at: $1) }
        playback.run(1)
        #expect(playback.pictures.map(\.wall) == (0..<52).map { Int64($0) * 40_000 })
        playback.perform { $0.seek(to: VirtualPlayback.start + 15_000_000, at: $1) }
        playback.run(5)
        #expect(playback.pictures.last?.wall == 15_000_000)
        playback.perform { $0.resume(at: $1) }
        playback.run(1)
        #expect(playback.pictures.last.map { abs($0.wall - 16_000_000) <= 40_000 } ?? false)
        let times = playback.pictures.map(\.pts)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("Steps and a seek during a pause go on by themselves where pictures are presented later than decoded")
    func reordered() {
        var playback = playing()
        playback.reorder = 80_000
        playback.run(2)
        playback.perform { $0.pause(at: $1) }
        let count = playback.pictures.count
        for _ in 0..<2 {
            playback.perform { $0.step(at: $1) }
            playback.run(1)
        }
        #expect(playback.pictures.count == count + 2)
        playback.perform { $0.seek(to: VirtualPlayback.start + 15_000_000, at: $1) }
        playback.run(2)
        #expect(playback.pictures.last?.wall == 15_000_000)
        // Two steps at once: the second one has to wait for the time of the first.
        playback.perform { $0.step(at: $1) }
        playback.perform { $0.step(at: $1) }
        playback.run(1)
        #expect(playback.pictures.last?.wall == 15_080_000)
    }

    @Test("A seek during a pause sends the pictures before the place as fast as any seek, each with a time of its own")
    func seekInPause() {
        var playback = playing()
        playback.run(2)
        playback.perform { $0.pause(at: $1) }
        let count = playback.pictures.count
        playback.perform { $0.seek(to: VirtualPlayback.start + 15_900_000, at: $1) }
        playback.run(2)
        let sought = playback.pictures.dropFirst(count)
        #expect(sought.first?.wall == 14_000_000 && sought.last?.wall == 15_920_000)
        let times = sought.map(\.pts)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // 1.92 s at 16 times the speed.
        #expect(sought.last.map { $0.at - (sought.first?.at ?? 0) >= 110_000 } ?? false)
    }

    @Test("One file alone, and files from the newest to the oldest")
    func strategies() {
        var single = playing(.single, from: 12)
        single.run(30)
        #expect(single.pictures.last?.wall == 19_960_000 && single.events.last == .finished(error: nil))
        var descending = playing(.descending, from: 10)
        descending.run(30)
        let starts = descending.pictures.filter { $0.wall % 10_000_000 == 0 }.map(\.wall)
        #expect(starts == [10_000_000, 0] && descending.pictures.count == 500)
        #expect(!descending.events.contains { if case .gap = $0 { true } else { false } })
    }

    @Test("What cannot be read is told, and the next file is played")
    func unreadable() {
        var playback = playing()
        playback.failing = RecordedPlace(item: 1, part: 5)
        playback.run(40)
        let ends = playback.events.compactMap { event -> (Int64, ErrorCode?)? in
            if case .didEndFile(let item, let error) = event { (item.id, error) } else { nil }
        }
        #expect(ends.map(\.0) == [1, 2, 3] && ends.map(\.1) == [.recorderUnavailable, nil, nil])
        #expect(playback.pictures.count == 625)
    }

    @Test("A recording that was removed is skipped as a gap, and this is told")
    func removed() {
        var playback = VirtualPlayback()
        playback.removed = [2]
        playback.perform { $0.seek(to: VirtualPlayback.start, at: $1) }
        playback.run(40)
        let ends = playback.events.compactMap { event -> (Int64, ErrorCode?)? in
            if case .didEndFile(let item, let error) = event { (item.id, error) } else { nil }
        }
        #expect(Set(ends.map(\.0)) == [1, 2, 3] && ends.first { $0.0 == 2 }?.1 == .downloadNotFound)
        #expect(
            playback.events.contains(
                .gap(VirtualPlayback.start + 10_000_000..<VirtualPlayback.start + 20_000_000)))
        #expect(playback.pictures.count == 500 && playback.events.last == .finished(error: nil))
    }

    @Test("Playback ends after many recordings in a row that cannot be read")
    func allRemoved() {
        let items = (0..<100).map { Int64($0) * 10 }
        var playback = VirtualPlayback(items: items)
        playback.removed = Set(1...100)
        playback.perform { $0.seek(to: VirtualPlayback.start, at: $1) }
        playback.run(10)
        #expect(playback.events.count == 33 && playback.events.last == .finished(error: .downloadNotFound))
    }

    @Test("What is being recorded is played as it comes")
    func growing() {
        var playback = VirtualPlayback(items: [0, 10], length: 10)
        playback.growing = true
        playback.perform { $0.seek(to: VirtualPlayback.start, at: $1) }
        playback.run(12)
        #expect(playback.pictures.count > 230 && !playback.events.contains(.finished(error: nil)))
        playback.run(20)
        #expect(playback.pictures.map(\.wall) == (0..<500).map { Int64($0) * 40_000 })
        #expect(playback.events.last == .finished(error: nil))
    }

    @Test("Sound without pictures reports its position, also where it is not sent", arguments: [1.0, 2, 8])
    func soundOnly(_ speed: Double) {
        var playback = VirtualPlayback(items: [0], length: 60)
        playback.isSoundOnly = true
        playback.perform { session, now in
            session.setSpeed(speed, at: now)
            session.seek(to: VirtualPlayback.start, at: now)
        }
        playback.run(5.5)
        let positions = playback.events.compactMap { if case .position(let time) = $0 { time } else { nil } }
        #expect((5...6).contains(positions.count))
        let reached = (positions.last ?? 0) - VirtualPlayback.start
        #expect(abs(Double(reached) / (speed * 5_000_000) - 1) < 0.25)
        #expect(playback.sent.isEmpty == (speed != 1))
    }

    @Test("What is before the sought time is sent fast, but not faster than the limit")
    func leadBytes() {
        var playback = VirtualPlayback()
        playback.pictureBytes = 40_000
        playback.perform { $0.seek(to: VirtualPlayback.start + 5_900_000, at: $1) }
        playback.run(4)
        let lead = playback.pictures.filter { $0.wall < 5_900_000 }
        #expect(lead.first?.wall == 4_000_000 && lead.count == 48)
        for (number, picture) in lead.enumerated() {
            let before = lead[..<number].reduce(0) { $0 + $1.byteCount }
            let allowed = Double(picture.at - (lead.first?.at ?? 0)) * 4 + 8
            #expect(Double(before) <= allowed)
        }
        let times = playback.sent.map(\.pts)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("Nothing from the end on is played")
    func end() {
        var playback = VirtualPlayback()
        playback.perform {
            $0.seek(to: VirtualPlayback.start, until: VirtualPlayback.start + 12_000_000, at: $1)
        }
        playback.run(20)
        #expect(playback.pictures.last?.wall == 11_960_000 && playback.events.last == .finished(error: nil))
    }

    @Test("A slow disk delays the playback, and nothing is left out")
    func slowDisk() {
        var playback = playing()
        playback.readTime = 1_200_000
        playback.run(50)
        #expect(playback.pictures.map(\.wall) == (0..<750).map { Int64($0) * 40_000 })
    }

    @Test("Nothing recorded from the time on")
    func nothing() {
        var playback = playing(from: 100)
        playback.run(1)
        #expect(playback.sent.isEmpty && playback.events == [.finished(error: .playbackListEmpty)])
    }

    @Test("Speeds are above 0 and at most 32", arguments: [0, -1, 32.5, .nan, .infinity])
    func badSpeed(_ speed: Double) {
        #expect(throws: IoTError.self) { try PlaybackSpeed.check(speed) }
    }
}
