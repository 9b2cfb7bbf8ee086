import Testing

@testable import MediaPlayer

/// Tests the room of a sink, which measures only the media's time.
@Suite struct SinkRoomTests {
    /// Offers frames of 100 ms; returns the times and loads of the admitted ones.
    private func offer(
        _ room: SinkRoom, _ frames: Range<Int>, bytes: Int, isStart: (Int) -> Bool = { _ in true }
    ) -> [(number: Int, load: SinkLoad)] {
        frames.compactMap { number in
            room.admit(at: Int64(number) * 100_000, bytes: bytes, isStart: isStart(number)).load.map { (number, $0) }
        }
    }

    @Test("Waiting bytes stay within the limit, and the counts contain the dropped ones")
    func bytes() {
        let room = SinkRoom(SinkLimits(duration: 60_000_000, bytes: 1_000))
        #expect(offer(room, 0..<50, bytes: 300).map(\.number) == [0, 1, 2])
        #expect(room.waiting.bytes == 900)
        #expect(room.counts == SinkRoom.Counts(frames: 50, framesDropped: 47, bytesDropped: 47 * 300))
    }

    @Test("The waiting media time stays within the limit")
    func duration() {
        let room = SinkRoom(SinkLimits(duration: 1_000_000, bytes: 1_000_000))
        #expect(offer(room, 0..<50, bytes: 1).map(\.number) == Array(0...10))
        #expect(room.waiting.duration == 1_000_000)
    }

    @Test("A frame that is larger than the room is admitted if nothing waits, and then no other")
    func large() {
        let room = SinkRoom(SinkLimits(duration: 1_000_000, bytes: 100))
        #expect(offer(room, 0..<3, bytes: 500).map(\.number) == [0])
    }

    @Test("After a loss, frames are admitted again when half of the room is free, and the first of them is marked")
    func halfFree() {
        let room = SinkRoom(SinkLimits(duration: 60_000_000, bytes: 1_000))
        let first = offer(room, 0..<20, bytes: 100)
        #expect(first.count == 10 && first.allSatisfy { !$0.load.followsLoss })
        first.prefix(4).forEach { room.release($0.load) }
        #expect(offer(room, 20..<30, bytes: 100).isEmpty)
        room.release(first[4].load)
        let second = offer(room, 30..<40, bytes: 100)
        #expect(second.map(\.number) == Array(30..<35))
        #expect(second.map(\.load.followsLoss) == [true, false, false, false, false])
    }

    @Test("After a loss, no frame that references a dropped one is admitted")
    func start() {
        let room = SinkRoom(SinkLimits(duration: 60_000_000, bytes: 1_000))
        let first = offer(room, 0..<12, bytes: 100) { $0 % 25 == 0 }
        first.forEach { room.release($0.load) }
        #expect(offer(room, 12..<30, bytes: 100) { $0 % 25 == 0 }.map(\.number) == Array(25..<30))
    }

    @Test("A loss is reported once, until frames are admitted again; an admitted frame that is refused is also lost")
    func told() throws {
        let room = SinkRoom(SinkLimits(duration: 60_000_000, bytes: 100))
        let load = try #require(room.admit(at: 0, bytes: 100).load)
        #expect(room.admit(at: 1, bytes: 100) == .dropped(isFirst: true))
        #expect(room.admit(at: 2, bytes: 100) == .dropped(isFirst: false))
        room.release(load)
        let next = try #require(room.admit(at: 3, bytes: 100).load)
        #expect(room.refuse(next) == .dropped(isFirst: true))
        #expect(room.counts == SinkRoom.Counts(frames: 4, framesDropped: 3, bytesDropped: 300))
        #expect(room.waiting.frames == 0)
    }

    @Test(
        "Only wanted frames are admitted; further ones are not counted, and a lost frame makes room for another"
    )
    func wanted() throws {
        let room = SinkRoom(SinkLimits(duration: 60_000_000, bytes: 300), frames: 4)
        let first = offer(room, 0..<5, bytes: 100)
        #expect(first.map(\.number) == [0, 1, 2])
        _ = room.refuse(first[2].load)
        first.prefix(2).forEach { room.release($0.load) }
        #expect(offer(room, 5..<50, bytes: 100).map(\.number) == [5, 6])
        #expect(room.admit(at: 6_000_000, bytes: 100) == .surplus)
        #expect(room.counts == SinkRoom.Counts(frames: 7, framesDropped: 3, bytesDropped: 300))
    }

    @Test("Reordered frames count once, and a clock jump counts as no time")
    func progress() {
        var progress = MediaProgress()
        // The decoding order of B-frames.
        let steps = [0, 300, 100, 200, 600, 400, 500].map { progress.advance(to: Int64($0) * 1_000) }
        #expect(steps == [0, 300_000, 0, 0, 300_000, 0, 0])
        #expect(progress.advance(to: 9_000_000_000) == 0)
        #expect(progress.advance(to: 9_000_040_000) == 40_000)
        #expect(progress.advance(to: -5) == 0)
        #expect(progress.advance(to: 40_000) == 40_005)
        for time in [.max, 0, .min, .min, 0, .max, .max, .min, .max] as [Int64] {
            #expect(progress.advance(to: time) == 0)
        }
        #expect(progress.advance(to: .max - 20) == 0)
        #expect(progress.advance(to: .min) == 0 && progress.advance(to: .min + 30) == 30)
    }
}
