import IoTCore
import NIOCore
import RTP
import Testing

@testable import MediaChannel
@testable import PeerTransport

@Suite struct ViewerFeedTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func videoTrack() -> CameraTrack {
        CameraTrack(parameters: .video(VideoParameters(codec: .h264)), payloadType: 96)
    }

    private func audioTrack() -> CameraTrack {
        CameraTrack(
            parameters: .audio(AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1)), payloadType: 97)
    }

    private func picture(_ index: Int, isKey: Bool, bytes: Int = 2_000) -> MediaFrame {
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(bytes))
        buffer.writeInteger(UInt8(isKey ? 0x65 : 0x41))
        buffer.writeRepeatingByte(UInt8(index & 0xFF), count: bytes - 1)
        let pts = Int64(index) * 40_000
        return MediaFrame(kind: .video, isKeyFrame: isKey, pts: pts, dts: pts, bytes: buffer)
    }

    private func sound(_ index: Int) -> MediaFrame {
        let pts = Int64(index) * 20_000
        return MediaFrame(
            kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: ByteBuffer(repeating: 0xD5, count: 160))
    }

    /// Key frames at 0, 50, 100 …; sound throughout.
    private func fill(_ count: Int, _ video: inout CameraTrack, _ audio: inout CameraTrack) throws {
        for index in 0..<count {
            let time = start + .milliseconds(Int64(index) * 40)
            try video.append(picture(index, isKey: index % 50 == 0), at: time)
            try audio.append(sound(index * 2), at: time)
            try audio.append(sound(index * 2 + 1), at: time)
        }
    }

    @Test("A viewer starts at the newest key frame with the sound from that time, and gets every packet once")
    func instantStart() throws {
        var (video, audio) = (videoTrack(), audioTrack())
        try fill(80, &video, &audio)
        var now = start + .seconds(4)
        var feed = ViewerFeed()
        feed.start(video: video, audio: audio, at: now)
        var packets: [(kind: MediaKind, packet: MediaPacket)] = []
        var steps = 0
        repeat {
            packets += feed.next(video: video, audio: audio, at: now)
            now = feed.timeout ?? now
            steps += 1
            try #require(steps < 1_000)
        } while feed.timeout != nil
        let pictures = packets.filter { $0.kind == .video }.map(\.packet)
        let sounds = packets.filter { $0.kind == .audio }.map(\.packet)
        #expect(pictures.first?.isKeyFrameStart == true)
        #expect(pictures.first?.pts == 2_000_000)
        #expect(sounds.first?.pts == 2_000_000)
        #expect(pictures.map(\.sequence) == Array(pictures[0].sequence..<video.endSequence))
        #expect(sounds.map(\.sequence) == Array(sounds[0].sequence..<audio.endSequence))
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.packet.pts <= $1.packet.pts })
    }

    @Test("Catching up is paced; at the live edge each packet is sent at once")
    func pace() throws {
        var (video, audio) = (videoTrack(), audioTrack())
        for index in 0..<100 {
            try video.append(picture(index, isKey: index == 0, bytes: 20_000), at: start)
        }
        try audio.append(sound(0), at: start)
        var feed = ViewerFeed()
        feed.start(video: video, audio: nil, at: start)
        var now = start
        var bytes = 0
        var steps = 0
        repeat {
            let sent = feed.next(video: video, audio: nil, at: now).reduce(0) { $0 + $1.packet.payload.readableBytes }
            #expect(sent <= ViewerFeed.burst + 1_200, "more was sent at once than a small receive buffer holds")
            bytes += sent
            now = feed.timeout ?? now
            steps += 1
            try #require(steps < 10_000)
        } while feed.timeout != nil
        let seconds = Double((now - start).nanoseconds) / 1e9
        #expect(bytes > 1_900_000)
        #expect(seconds > 0.2 && seconds < 1.5, "took \(seconds) s")
        now = now + .milliseconds(40)
        try video.append(picture(100, isKey: false, bytes: 20_000), at: now)
        #expect(feed.next(video: video, audio: nil, at: now).last?.packet.marker == true)
        #expect(feed.timeout == nil)
    }

    /// The maximum load of a client's socket that reads at `rate` bits per second, with the kernel's overhead per
    /// packet.
    private func fill(readingAt rate: Int, _ feed: inout ViewerFeed, _ video: CameraTrack, from start: NIODeadline)
        throws -> (held: Int, keyFrameAt: TimeAmount?, end: TimeAmount)
    {
        var (held, most) = (0, 0)
        var (now, last) = (start, start)
        var keyFrameAt: TimeAmount?
        let keyFrame = try #require(video.ring.newestKeyFrame)
        var steps = 0
        repeat {
            held = max(0, held - Int((now - last).nanoseconds / 1_000) * (rate / 8_000) / 1_000)
            last = now
            for (_, packet) in feed.next(video: video, audio: nil, at: now) {
                held += 2_304
                if packet.sequence == keyFrame.upperBound - 1 { keyFrameAt = now - start }
            }
            most = max(most, held)
            now = feed.timeout ?? now
            steps += 1
            try #require(steps < 10_000)
        } while feed.timeout != nil
        return (most, keyFrameAt, now - start)
    }

    @Test("At the live edge, a large picture is sent at once only into a byte stream, which paces itself")
    func byteStream() throws {
        var video = videoTrack()
        try video.append(picture(0, isKey: true, bytes: 1_000), at: start)
        var feed = ViewerFeed()
        feed.start(video: video, audio: nil, at: start)
        _ = feed.next(video: video, audio: nil, at: start)
        try video.append(picture(1, isKey: true, bytes: 60_000), at: start)
        let (first, end) = (try #require(feed.nextPicture), video.endSequence)
        for (isPaced, next) in [(true, first), (false, end)] {
            let isTaken = feed.take(
                .video, before: end, byteCount: 60_000, isPaced: isPaced, at: start + .seconds(1))
            #expect(isTaken == !isPaced && feed.nextPicture == next)
        }
    }

    @Test("No packet of an instant start overflows a default socket receive buffer, and the key frame arrives soon")
    func receiveBuffer() throws {
        var video = videoTrack()
        // 4 Mbit/s with a key frame of 150 kB every 10 s.
        for index in 0..<295 {
            try video.append(
                picture(index, isKey: index == 0, bytes: index == 0 ? 150_000 : 20_000),
                at: start + .milliseconds(Int64(index) * 34))
        }
        var feed = ViewerFeed()
        let now = start + .seconds(10)
        feed.start(video: video, audio: nil, at: now)
        // A client that reads 200 Mbit/s, like one thread does.
        let result = try fill(readingAt: 200_000_000, &feed, video, from: now)
        #expect(result.held <= 212_992)
        #expect(try #require(result.keyFrameAt) <= .milliseconds(20))
        #expect(result.end <= .seconds(2))
        // At the live edge, a key frame of that size causes no burst either.
        let later = now + .seconds(3)
        try video.append(picture(400, isKey: true, bytes: 150_000), at: later)
        let live = try fill(readingAt: 200_000_000, &feed, video, from: later)
        #expect(live.held <= 212_992)
        #expect(live.end <= .milliseconds(20))
    }

    @Test("A restarted picture continues from its key frame, sound continues where it is, and no burst is added")
    func restartPicture() throws {
        var (video, audio) = (videoTrack(), audioTrack())
        try fill(60, &video, &audio)
        let now = start + .seconds(3)
        var feed = ViewerFeed()
        feed.start(video: video, audio: audio, soundIsLive: true, at: now)
        var sent = feed.next(video: video, audio: audio, at: now)
        while let next = feed.timeout { sent += feed.next(video: video, audio: audio, at: next) }
        #expect(feed.nextPicture == video.endSequence)
        feed.restartPicture(video, at: now + .milliseconds(100))
        let again = feed.next(video: video, audio: audio, at: now + .milliseconds(100))
        #expect(again.allSatisfy { $0.kind == .video })
        #expect(again.first?.packet.sequence == video.startSequence)
    }

    @Test("A viewer whose position left the ring continues with a key frame")
    func overflow() throws {
        var (video, audio) = (videoTrack(), audioTrack())
        try fill(10, &video, &audio)
        var feed = ViewerFeed()
        feed.start(video: video, audio: audio, at: start)
        _ = feed.next(video: video, audio: audio, at: start)
        // 40 s later all packets at its position are gone.
        for index in 10..<1_010 {
            try video.append(
                picture(index, isKey: index % 50 == 0), at: start + .milliseconds(Int64(index) * 40))
        }
        let packets = feed.next(video: video, audio: audio, at: start + .seconds(41))
        #expect(packets.first { $0.kind == .video }?.packet.isKeyFrameStart == true)
        #expect(feed.skips == 1)
    }
}
