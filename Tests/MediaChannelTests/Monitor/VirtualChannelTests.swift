import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@testable import MediaChannel

/// The monitor channel over a bad network: 5 % loss, 30 ms jitter, 50 ms round trip.
@Suite struct VirtualChannelTests {
    struct Clip {
        let frames: [MediaFrame]
        let video: VideoParameters
        let audio: AudioParameters
        let pictures: Int
    }

    /// `rounds` of a sample, one behind the other on one clock without a gap.
    static func clip(_ name: String, rounds: Int) throws -> Clip {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let demuxer = try MediaDemuxer(
            url: root.appendingPathComponent("Samples/\(name)").path, options: DemuxerOptions(),
            cancellation: DemuxerCancellation())
        var one: [MediaFrame] = []
        while let frame = try demuxer.readFrame() { one.append(frame) }
        let start = one.map(\.pts).min() ?? 0
        let pictures = one.filter { $0.kind == .video }
        let length = (pictures.map(\.pts).max() ?? 0) - start + 40_000
        one.removeAll { $0.pts - start >= length }
        var frames: [MediaFrame] = []
        for round in 0..<rounds {
            for var frame in one {
                frame.pts += Int64(round) * length - start
                frame.dts += Int64(round) * length - start
                frame.isDiscontinuity = false
                frames.append(frame)
            }
        }
        // As a live source sends them.
        frames.sort { $0.dts < $1.dts }
        return Clip(
            frames: frames, video: try #require(demuxer.video), audio: try #require(demuxer.audio),
            pictures: pictures.count * rounds)
    }

    static func channel(
        seed: UInt64, loss: Double = 0.05, isNACKEnabled: Bool = true,
        options: JitterBufferOptions = JitterBufferOptions()
    ) throws -> (VirtualChannel, Clip) {
        let clip = try clip("bunny-h264-aac51.mp4", rounds: 4)
        let channel = try VirtualChannel(
            frames: clip.frames, video: clip.video, audio: clip.audio,
            link: .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: loss, seed: seed),
            isNACKEnabled: isNACKEnabled, options: options)
        try channel.play()
        return (channel, clip)
    }

    static func isInOrder(_ channel: VirtualChannel) -> Bool {
        let pictures = channel.shown.filter { $0.kind == .video }.sorted { $0.presentAt < $1.presentAt }
        return zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts }
    }

    /// The share of pictures, behind the first second, that are shown 80 ms or more from the sound heard next to them.
    ///
    /// Not all of them: when the delay has to grow, a single picture can stand beside sound of the old delay.
    static func shareApart(_ channel: VirtualChannel) -> Double {
        var meter = SkewMeter()
        var pictures = 0
        var apart = 0
        for shown in channel.shown.sorted(by: { $0.presentAt < $1.presentAt }) {
            guard shown.presentAt - channel.start > .seconds(2), let sender = shown.senderTime else { continue }
            let presented = Int64(shown.presentAt.uptimeNanoseconds / 1_000)
            switch shown.kind {
            case .audio: meter.soundHeard(sender: sender, presented: presented)
            case .video:
                meter.pictureShown(sender: sender, presented: presented)
                pictures += 1
                apart += (meter.last ?? 0).magnitude >= 80_000 ? 1 : 0
            }
        }
        return Double(apart) / Double(max(1, pictures))
    }

    private static let tolerated = 0.01
    private static let frozen = 0.05

    @Test(
        "With 5 % loss the pictures come, none out of order, sound and picture within 80 ms, frozen time reported",
        arguments: [1, 2, 3] as [UInt64])
    func lossy(seed: UInt64) throws {
        let (channel, clip) = try Self.channel(seed: seed)
        let statistics = channel.currentStatistics
        let video = try #require(statistics.video)
        #expect(channel.lostDatagrams > 100, "the link lost nothing")
        #expect(channel.retransmittedPackets > 100)
        #expect(Self.isInOrder(channel))
        #expect(Self.shareApart(channel) < Self.tolerated)
        #expect(channel.releasedPictures >= clip.pictures * 99 / 100)
        #expect(video.framesShown >= clip.pictures * 97 / 100, "\(video.framesShown) of \(clip.pictures)")
        #expect(
            video.totalFreezesDuration < statistics.elapsedTime * Self.frozen, "\(video.totalFreezesDuration) s frozen")
        #expect(channel.shown.contains { $0.kind == .audio })
    }

    @Test("Without NACK far less loss freezes the picture for long, which is reported; with it nothing freezes")
    func withoutRetransmission() throws {
        let (without, clip) = try Self.channel(seed: 1, loss: 0.002, isNACKEnabled: false)
        let frozen = try #require(without.currentStatistics.video)
        #expect(frozen.framesShown < clip.pictures * 80 / 100)
        #expect(frozen.freezeCount > 0)
        #expect(frozen.totalFreezesDuration > 1)
        let (with, _) = try Self.channel(seed: 1, loss: 0.002)
        #expect(try #require(with.currentStatistics.video).totalFreezesDuration == 0)
    }

    @Test("Without the jitter buffer the picture and its sound are apart, and the picture stutters")
    func withoutBuffer() throws {
        let (channel, _) = try Self.channel(seed: 1, options: JitterBufferOptions(isEnabled: false))
        let video = try #require(channel.currentStatistics.video)
        #expect(Self.shareApart(channel) > 10 * Self.tolerated)
        #expect(video.totalFreezesDuration > 1)
    }
}
