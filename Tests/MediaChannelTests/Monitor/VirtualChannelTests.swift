import IoTCore
import MediaPlayer
import MediaTestSupport
import NIOCore
import PeerTransport
import RTP
import Testing

@testable import MediaChannel

/// Tests the monitor channel over a bad network: 5 % loss, 30 ms jitter, 50 ms round trip.
@Suite struct VirtualChannelTests {
    /// The network that the product is designed for.
    static func link(seed: UInt64, loss: Double = 0.05) -> VirtualLink<ByteBuffer>.Configuration {
        .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: loss, seed: seed)
    }

    static func channel(
        _ link: VirtualLink<ByteBuffer>.Configuration, rounds: Int = 4, isNACKEnabled: Bool = true,
        options: JitterBufferOptions = JitterBufferOptions()
    ) throws -> (VirtualChannel, SampleClip) {
        let clip = try SampleClip("bunny-h264-aac51.mp4", rounds: rounds)
        let channel = try VirtualChannel(
            frames: clip.frames, video: clip.video, audio: clip.audio, link: link, isNACKEnabled: isNACKEnabled,
            options: options)
        try channel.play()
        return (channel, clip)
    }

    /// The promises for that network which a run does not meet.
    static func broken(_ channel: VirtualChannel, _ clip: SampleClip) -> Set<Promise> {
        let statistics = channel.currentStatistics
        let frozen = statistics.video?.totalFreezesDuration ?? .infinity
        let skew = channel.skews.map(\.magnitude).max() ?? .max
        let heard = channel.shown.count { $0.kind == .audio }
        let sounds = clip.frames.count { $0.kind == .audio }
        var broken: Set<Promise> = []
        if !channel.isInOrder { broken.insert(.order) }
        // Each picture counts, including the first ones.
        if skew >= 80_000 || (statistics.maximumAudioVideoSkew ?? .infinity) >= 0.08 { broken.insert(.skew) }
        if frozen >= statistics.elapsedTime * 0.01 { broken.insert(.frozen) }
        if (statistics.video?.framesShown ?? 0) < clip.pictures * 99 / 100 { broken.insert(.pictures) }
        if heard < sounds * 96 / 100 { broken.insert(.sound) }
        return broken
    }

    enum Promise {
        /// No picture is shown before one with a lower pts.
        case order
        /// Each picture is less than 80 ms from the sound that is heard next to it.
        case skew
        /// Less than 1 % of the time is frozen.
        case frozen
        /// 99 % of the pictures are shown.
        case pictures
        /// 96 % of the sound is heard: it starts with the first picture, and late sound is concealed.
        case sound
    }

    @Test(
        "With 5 % loss pictures stay in order, each within 80 ms of its sound, frozen for less than 1 % of the time",
        arguments: 1...10 as ClosedRange<UInt64>)
    func lossy(seed: UInt64) throws {
        let (channel, clip) = try Self.channel(Self.link(seed: seed))
        let statistics = channel.currentStatistics
        #expect(channel.lostDatagrams > 100, "the link lost nothing")
        #expect(channel.inbound.retransmittedPacketsReceived > 100)
        #expect(Self.broken(channel, clip).isEmpty, "\(Self.broken(channel, clip)) of \(statistics)")
        // Nothing follows the last picture, so the loss of its last packet is not detected.
        let times = clip.frames.filter { $0.kind == .video }.map(\.pts)
        let released = try #require(channel.releasedTimes)
        let hasLast =
            released.upperBound - released.lowerBound + 1_000 > (times.max() ?? 0) - (times.min() ?? 0)
        #expect(channel.releasedPictures == clip.pictures - (hasLast ? 0 : 1))
        #expect(channel.skews.count > clip.pictures * 95 / 100, "few pictures have sound near them")
        // Two rounds of retransmission, and not more for long.
        #expect(statistics.tolerance < 0.6)
    }

    @Test("Without NACK the same link breaks the promises", arguments: 1...2 as ClosedRange<UInt64>)
    func withoutRetransmission(seed: UInt64) throws {
        let (channel, clip) = try Self.channel(Self.link(seed: seed), isNACKEnabled: false)
        // Hardly a key frame arrives complete: pictures that are never shown do not count as frozen.
        let broken = Self.broken(channel, clip)
        #expect(broken.contains(.pictures) && broken.contains(.sound), "\(broken)")
    }

    @Test("Without the jitter buffer the same link breaks the promises", arguments: 1...2 as ClosedRange<UInt64>)
    func withoutBuffer(seed: UInt64) throws {
        let (channel, clip) = try Self.channel(
            Self.link(seed: seed), options: JitterBufferOptions(isEnabled: false))
        let broken = Self.broken(channel, clip)
        #expect(broken.contains(.skew) && broken.contains(.frozen), "\(broken)")
    }

    @Test("Without NACK much less loss causes long freezes, which are reported; with NACK nothing freezes")
    func littleLoss() throws {
        let (without, clip) = try Self.channel(Self.link(seed: 1, loss: 0.002), isNACKEnabled: false)
        let frozen = try #require(without.currentStatistics.video)
        #expect(frozen.framesShown < clip.pictures * 80 / 100)
        #expect(frozen.freezeCount > 0)
        #expect(frozen.totalFreezesDuration > 1)
        let (with, _) = try Self.channel(Self.link(seed: 1, loss: 0.002))
        #expect(try #require(with.currentStatistics.video).totalFreezesDuration == 0)
    }

    @Test("A seed always gives the same pictures, times and statistics; another seed gives others")
    func repeatable() throws {
        let (first, _) = try Self.channel(Self.link(seed: 7), rounds: 1)
        let (second, _) = try Self.channel(Self.link(seed: 7), rounds: 1)
        let (other, _) = try Self.channel(Self.link(seed: 8), rounds: 1)
        #expect(first.shown == second.shown)
        #expect(first.currentStatistics == second.currentStatistics)
        #expect(first.inbound == second.inbound)
        #expect(first.lostDatagrams == second.lostDatagrams)
        #expect(first.shown != other.shown)
    }

    @Test("On a clean local link the first picture is shown at once, and the delay stays small")
    func clean() throws {
        let (channel, clip) = try Self.channel(.init(delay: .microseconds(200)), rounds: 2)
        let statistics = channel.currentStatistics
        #expect(try #require(statistics.firstFrameTime) < 0.02)
        #expect(try #require(statistics.liveEdgeTime) < 0.3)
        #expect(statistics.delay < 0.06)
        #expect(channel.inbound.nackCount == 0)
        #expect(Self.broken(channel, clip).isEmpty, "\(statistics)")
        #expect(statistics.video?.framesShown == clip.pictures)
    }

    @Test(
        "With 5 % loss the definition changes 50 times, and no picture comes more than 300 ms after the one before it",
        arguments: 1...2 as ClosedRange<UInt64>)
    func definitions(seed: UInt64) throws {
        // A minute with a key frame about every half second.
        let frames = (0..<1_500).flatMap { index in
            VirtualCamera.frames(
                index % 13 == 0 ? 0 : 1, at: Int64(index) * 40_000, hasSound: true, scale: 4)
        }
        let channel = try VirtualChannel(
            frames: frames, low: frames, video: VideoParameters(codec: .h264, parameterSets: [], width: 16, height: 16),
            audio: AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1), link: Self.link(seed: seed))
        var changes: [String] = []
        var isBusy = false
        channel.onPicture = {
            guard !isBusy, changes.count < 50 else { return }
            isBusy = true
            let next: Definition = channel.gateway.connection.definition == .high ? .low : .high
            #expect(throws: Never.self) {
                try channel.change(to: next) { result in
                    isBusy = false
                    changes.append((try? result.get())?["definition"]?.stringValue ?? "refused")
                }
            }
        }
        try channel.play()
        #expect(changes == (0..<50).map { $0 % 2 == 0 ? "low" : "high" })
        let pictures = channel.shown.filter { $0.kind == .video }.map(\.presentAt).sorted()
        let gaps = zip(pictures, pictures.dropFirst()).map { $1 - $0 }
        #expect(channel.lostDatagrams > 100 && pictures.count > 50)
        #expect(gaps.max() ?? .zero <= .milliseconds(300), "\(gaps.max() ?? .zero)")
        #expect(channel.isInOrder)
    }
}
