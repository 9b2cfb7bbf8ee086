import IoTCore
import MediaPlayer
import NIOCore
import Testing

import struct Foundation.Data
import class Foundation.JSONDecoder
import class Foundation.JSONEncoder

@Suite struct PlayoutStatisticsTests {
    private func time(_ milliseconds: UInt64) -> NIODeadline { .uptimeNanoseconds(milliseconds * 1_000_000) }

    @Test("Counts what is reported, in the units of webrtc-stats")
    func counts() throws {
        var statistics = PlayoutStatistics(startedAt: time(1_000))
        for index in 0..<50 {
            let now = UInt64(1_040 + index * 40)
            statistics.frameReceived(.video, bytes: 10_000, at: time(now))
            statistics.frameDecoded(.video, isKeyFrame: index == 0)
            statistics.framePresented(.audio, senderMicroseconds: Int64(index) * 40_000, at: time(now + 50))
            statistics.framePresented(.video, senderMicroseconds: Int64(index) * 40_000, at: time(now + 60))
        }
        statistics.framesDropped(.video, .late, count: 2)
        statistics.framesDropped(.video, .corrupt)
        statistics.framesDropped(.audio, .lost)
        statistics.pictureSize(width: 640, height: 360)
        var packets = PacketCounters()
        packets.packetsReceived = 500
        packets.nackCount = 3
        statistics.update(.video, packets: packets)

        let snapshot = statistics.snapshot(at: time(3_000))
        let video = try #require(snapshot.video)
        #expect(snapshot.elapsedTime == 2)
        #expect(snapshot.firstFrameTime == 0.1)
        #expect(snapshot.audioVideoSkew.map { abs($0 - 0.01) < 1e-9 } == true)
        #expect(video.framesReceived == 50 && video.framesDecoded == 50 && video.keyFramesDecoded == 1)
        #expect(video.framesShown == 50 && video.framesDropped == 3)
        #expect(video.framesDroppedByReason.late == 2 && video.framesDroppedByReason.corrupt == 1)
        #expect(abs(video.bitrate - 2_000_000) < 150_000)
        #expect(abs(video.framesPerSecond - 25) < 0.1)
        #expect(video.packets.packetsReceived == 500 && video.packets.nackCount == 3)
        #expect(snapshot.audio?.framesDropped == 1)
    }

    @Test("A use that joins a playing channel gets only later counts")
    func baseline() throws {
        var report = JitterBuffer(now: time(0)).report
        report.emittedFrames = 100
        report.stalls = 2
        report.liveEdgeTime = .milliseconds(400)
        var packets = PacketCounters()
        packets.packetsReceived = 1_000
        packets.packetsLost = 7
        let before = PlayoutBaseline(startedAt: time(0), report: report, packets: [.video: packets])
        var statistics = PlayoutStatistics(startedAt: time(10_000), after: before)
        report.emittedFrames = 130
        packets.packetsReceived = 1_300
        packets.packetsLost = 8
        statistics.update(report)
        statistics.update(.video, packets: packets)
        statistics.framePresented(.video, senderMicroseconds: nil, at: time(10_020))

        let snapshot = statistics.snapshot(at: time(11_000))
        #expect(snapshot.elapsedTime == 1)
        #expect(snapshot.firstFrameTime == 0.02)
        #expect(snapshot.liveEdgeTime == 0.02)
        #expect(snapshot.jitterBufferEmittedCount == 30)
        #expect(snapshot.stallCount == 0)
        #expect(snapshot.video?.framesShown == 1)
        #expect(snapshot.video?.packets.packetsReceived == 300)
        #expect(snapshot.video?.packets.packetsLost == 1)
    }

    @Test("A snapshot survives JSON; unknown values are absent")
    func codable() throws {
        var statistics = PlayoutStatistics(startedAt: time(0))
        statistics.frameReceived(.video, bytes: 1, at: time(1))
        statistics.update(JitterBuffer(now: time(0)).report)
        let snapshot = statistics.snapshot(at: time(5))
        let data = try JSONEncoder().encode(snapshot)
        #expect(try JSONDecoder().decode(ChannelStatistics.self, from: data) == snapshot)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("\"freezeCount\":0"))
        #expect(!text.contains("firstFrameTime"))
        #expect(!text.contains("\"audio\""))
    }
}
