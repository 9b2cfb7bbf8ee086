import IoTCore
import MediaTestSupport
import NIOCore
import Testing

@testable import MediaPlayer

/// Tests a source that delivers on request, with the player that calls also use, in virtual time.
@Suite(.timeLimit(.minutes(1))) struct PullSourceTests {
    private static let clip = try? SampleClip("bunny-h264-aac51.mp4", rounds: 1)

    private func player() throws -> (VirtualPlayer, ClipSource) {
        let source = ClipSource(try #require(Self.clip))
        return (VirtualPlayer(source, PlayerCapabilities(of: .playback)), source)
    }

    private func times(_ frames: [PlayedFrame]) -> [Int64] {
        frames.sorted { $0.frame.pts < $1.frame.pts }.map { ($0.presentAt - .uptimeNanoseconds(0)).nanoseconds / 1_000 }
    }

    /// The largest difference between a frame's time and `rate` times the time after the previous frame, µs.
    private func unevenness(_ frames: [PlayedFrame], rate: Double) -> Int64 {
        let frames = frames.sorted { $0.frame.pts < $1.frame.pts }
        return zip(frames, frames.dropFirst()).map { first, second in
            let wanted = Int64(Double(second.frame.pts - first.frame.pts) / rate)
            return abs((second.presentAt - first.presentAt).nanoseconds / 1_000 - wanted)
        }.max() ?? .max
    }

    @Test("Every frame is presented once, on time; then the player stops; frames are requested at most 2 s ahead")
    func playsThrough() throws {
        let (player, source) = try player()
        try player.play()
        try player.run(for: .microseconds(source.duration) + .seconds(1))
        let clip = source.clip
        #expect(
            player.pictures.map(\.frame.pts).sorted() == clip.frames.filter { $0.kind == .video }.map(\.pts).sorted())
        #expect(player.sounds.count == clip.frames.count { $0.kind == .audio })
        #expect(unevenness(player.pictures, rate: 1) <= 2)
        #expect(unevenness(player.sounds, rate: 1) <= 2)
        #expect(player.statuses == [.preparing, .ready, .loading, .playing, .stopping, .stopped])
        #expect(player.hasEnded && source.isClosed)
        let begin = try #require(source.asked.first?.at)
        for ask in source.asked {
            #expect(ask.through <= (ask.at - begin).nanoseconds / 1_000 + 2_000_000)
        }
        let statistics = try #require(player.core.statistics(of: "user", at: player.now))
        #expect(statistics.video?.framesShown == clip.pictures)
        #expect(statistics.video?.freezeCount == 0)
        #expect(statistics.maximumAudioVideoSkew ?? 1 < 0.001)
    }

    @Test("During a pause nothing is presented and the position stays; then play continues without a gap")
    func pauses() throws {
        let (player, source) = try player()
        try player.play()
        try player.run(for: .seconds(1))
        try player.core.pause(at: player.now)
        let position = try player.core.position(at: player.now)
        let count = player.played.count
        try player.run(for: .seconds(60))
        #expect(player.played.count == count)
        #expect(try player.core.position(at: player.now) == position)
        #expect(player.core.status == .paused)
        #expect(player.core.nextTimeout == nil)
        try player.core.resume(at: player.now)
        #expect(player.core.status == .loading)
        try player.run(for: .microseconds(source.duration))
        #expect(player.pictures.count == source.clip.pictures)
        let gaps = zip(times(player.pictures), times(player.pictures).dropFirst()).map { $1 - $0 }
        let longest = try #require(gaps.max())
        #expect(abs(longest - 60_000_000) < 200_000)
        #expect(gaps.count { $0 > 1_000_000 } == 1)
        #expect(
            player.statuses == [
                .preparing, .ready, .loading, .playing, .paused, .loading, .playing, .stopping, .stopped,
            ])
        #expect(try #require(player.core.statistics(of: nil, at: player.now)).stallCount == 0)
    }

    @Test("A seek first shows the sought picture, decodes its references unseen, and plays nothing older")
    func seeks() throws {
        let (player, source) = try player()
        try player.play()
        try player.run(for: .seconds(1))
        player.forgetPlayed()
        let pictures = source.clip.frames.filter { $0.kind == .video }
        let target = try #require(pictures.first { $0.pts > source.duration / 2 && !$0.isKeyFrame }).pts
        try player.core.seek(to: target, at: player.now)
        #expect(player.core.status == .seeking)
        let sought = player.now
        try player.run(for: .milliseconds(500))
        #expect(source.seeks == [target])
        let key = try #require(pictures.last { $0.isKeyFrame && $0.pts <= target })
        let first = try #require(player.played.first)
        #expect(first.frame.pts == key.pts && first.frame.isKeyFrame)
        let shown = player.pictures.map(\.frame.pts)
        #expect(shown.min() == target)
        #expect(player.sounds.allSatisfy { $0.frame.pts >= target })
        #expect(try #require(player.pictures.map(\.presentAt).min()) - sought < .milliseconds(1))
        #expect(unevenness(player.pictures, rate: 1) <= 2)
        #expect(player.statuses == [.seeking, .playing])
    }

    @Test("A seek during a pause shows one picture there and pauses again; a seek before play sets where play starts")
    func seeksPaused() throws {
        let (player, source) = try player()
        let start = source.duration / 2
        try player.core.seek(to: start, at: player.now)
        try player.play()
        try player.run(for: .milliseconds(500))
        #expect(try #require(player.pictures.map(\.frame.pts).min()) >= start)
        try player.core.pause(at: player.now)
        player.forgetPlayed()
        try player.core.seek(to: 400_000, at: player.now)
        try player.run(for: .seconds(5))
        #expect(player.statuses == [.seeking, .paused])
        #expect((1...17).contains(player.pictures.count) && player.sounds.isEmpty)
        #expect(try #require(player.pictures.first).frame.pts >= 400_000)
        #expect(try player.core.position(at: player.now) == 400_000)
        try player.core.resume(at: player.now)
        try player.run(for: .milliseconds(500))
        #expect(player.statuses == [.seeking, .paused, .loading, .playing])
    }

    @Test("A stop ends at once: frames requested ahead are not played, and later commands have no effect")
    func stops() throws {
        let (player, source) = try player()
        try player.play()
        try player.run(for: .seconds(1))
        player.core.stop(at: player.now)
        #expect(player.statuses.suffix(2) == [.stopping, .stopped])
        #expect(player.hasEnded && source.isClosed && player.core.nextTimeout == nil)
        #expect(try #require(player.played.map(\.presentAt).max()) <= player.now + .milliseconds(100))
        let count = player.played.count
        try player.run(for: .seconds(1))
        #expect(player.played.count == count)
        #expect(throws: IoTError.self) { try player.core.seek(to: 0, at: player.now) }
        #expect(throws: IoTError.self) { try player.core.pause(at: player.now) }
        #expect(source.seeks.isEmpty)
    }

    @Test(
        "An impossible position is refused; one before the start is the start, one after the end ends play",
        arguments: [Int64.max, .min])
    func positions(pts: Int64) throws {
        let (player, source) = try player()
        try player.play()
        #expect(throws: IoTError.self) { try player.core.seek(to: pts, at: player.now) }
        try player.core.seek(to: -1 << 54, at: player.now)
        try player.run(for: .milliseconds(100))
        #expect(player.core.status == .playing)
        try player.core.seek(to: 1 << 54, at: player.now)
        #expect(source.seeks == [source.clip.frames[0].pts, 1 << 54])
        #expect(player.hasEnded)
    }

    @Test("Rates up to 2 play every frame, evenly", arguments: [0.5, 1.5, 2])
    func slowRates(rate: Double) throws {
        let (player, source) = try player()
        try player.core.setRate(rate, at: player.now)
        try player.play()
        try player.run(for: .microseconds(Int64(Double(source.duration) / rate)) + .seconds(1))
        #expect(source.rates == [rate])
        #expect(player.pictures.count == source.clip.pictures)
        #expect(player.sounds.count == source.clip.frames.count { $0.kind == .audio })
        #expect(unevenness(player.pictures, rate: rate) <= 2)
        #expect(player.statuses == [.preparing, .ready, .loading, .playing, .stopping, .stopped])
    }

    @Test(
        "Above 2 only key frames are shown, without sound; back at 1 no picture is shown without its references")
    func fastRates() throws {
        let source = ClipSource(try SampleClip("bunny-h264-aac51.mp4", rounds: 4))
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback))
        try player.play()
        try player.run(for: .milliseconds(300))
        player.forgetPlayed()
        try player.core.setRate(8, at: player.now)
        #expect(player.core.status == .fastForward)
        try player.run(for: .seconds(1))
        #expect(player.pictures.allSatisfy(\.frame.isKeyFrame) && player.sounds.isEmpty)
        #expect(!player.pictures.isEmpty)
        let position = try #require(try player.core.position(at: player.now))
        #expect(abs(position - 8_300_000) < 50_000)
        player.forgetPlayed()
        try player.core.setRate(1, at: player.now)
        #expect(player.core.status == .playing)
        try player.run(for: .seconds(12))
        #expect(try #require(player.pictures.first).frame.isKeyFrame)
        #expect(!player.sounds.isEmpty && player.pictures.contains { !$0.frame.isKeyFrame })
        #expect(throws: IoTError.self) { try player.core.setRate(33, at: player.now) }
    }

    @Test("A slow source delays the presentation, which is reported, and no frame is left out")
    func slowSource() throws {
        let (player, source) = try player()
        source.latency = .seconds(5)
        try player.play()
        try player.run(for: .seconds(4))
        #expect(player.core.status == .loading && player.played.isEmpty)
        try player.run(for: .seconds(120))
        #expect(player.pictures.count == source.clip.pictures)
        #expect(player.statuses.contains(.loading))
        #expect(player.statuses.suffix(2) == [.stopping, .stopped])
        #expect(player.statuses.count { $0 == .loading } > 1)
    }

    @Test(
        "The same player refuses functions that its kind does not offer", arguments: [ChannelKind.monitor, .live])
    func refusals(kind: ChannelKind) throws {
        let player = VirtualPlayer(ClipSource(try #require(Self.clip)), PlayerCapabilities(of: kind))
        try player.play()
        func code(_ command: () throws(IoTError) -> Void) -> Int? {
            do { try command() } catch { return error.code.rawValue }
            return nil
        }
        #expect(code { () throws(IoTError) in try player.core.pause(at: player.now) } == 21040)
        #expect(code { () throws(IoTError) in try player.core.resume(at: player.now) } == 21040)
        #expect(code { () throws(IoTError) in try player.core.seek(to: 0, at: player.now) } == 21040)
        #expect(code { () throws(IoTError) in try player.core.setRate(2, at: player.now) } == 21040)
        #expect(code { () throws(IoTError) in _ = try player.core.position(at: player.now) } == 21040)
        #expect(code { () throws(IoTError) in _ = try player.core.duration } == 21040)
    }
}
