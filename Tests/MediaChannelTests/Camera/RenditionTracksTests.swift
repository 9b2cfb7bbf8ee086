import IoTCore
import NIOCore
import RTP
import Testing

@testable import MediaChannel

@Suite struct RenditionTracksTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func picture(_ index: Int64, isKey: Bool) -> MediaFrame {
        MediaFrame(
            kind: .video, isKeyFrame: isKey, pts: index * 40_000, dts: index * 40_000,
            bytes: ByteBuffer(bytes: [0, 0, 0, 2, isKey ? 0x65 : 0x41, 0x88]))
    }

    private func sound(_ index: Int64) -> MediaFrame {
        MediaFrame(
            kind: .audio, isKeyFrame: true, pts: index * 40_000, dts: index * 40_000, bytes: ByteBuffer(bytes: [1, 2]))
    }

    private func tracks() -> RenditionTracks {
        RenditionTracks(
            video: VideoParameters(codec: .h264, parameterSets: [], width: 16, height: 16),
            audio: AudioParameters(codec: .pcmu, sampleRate: 8_000, channels: 1))
    }

    /// Ten seconds with a key frame every two, 25 pictures and as much sound a second.
    private func fill(
        _ tracks: inout RenditionTracks, isWatched: Bool, each: (inout RenditionTracks) -> Void = { _ in }
    ) {
        for index in 0..<250 as Range<Int64> {
            let now = start + .milliseconds(index * 40)
            for frame in [picture(index, isKey: index % 50 == 0), sound(index)] {
                #expect(tracks.append(frame, at: now, isWatched: isWatched) == nil)
            }
            each(&tracks)
        }
        #expect(tracks.packetize() == nil)
    }

    @Test(
        "Without viewers, the pictures since the newest key frame become packets, and the sound since a second before")
    func unwatched() throws {
        var tracks = tracks()
        fill(&tracks, isWatched: false)
        let key: Int64 = 200 * 40_000
        let (video, audio) = (try #require(tracks.video), try #require(tracks.audio))
        #expect(video.ring.packet(sequence: video.startSequence)?.pts == key)
        #expect(video.endSequence == 50 && video.startSequence == 0 && audio.endSequence == 75)
        #expect(audio.ring.packet(sequence: audio.firstSequence(notBefore: key))?.pts == key)
        #expect(video.meter.frameRate?.rounded() == 25)
    }

    @Test("With viewers every frame becomes packets, once, whenever they are asked for", arguments: [1, 7, 1_000])
    func watched(_ interval: Int) throws {
        var (tracks, count) = (tracks(), 0)
        fill(&tracks, isWatched: true) { tracks in
            count += 1
            if count % interval == 0 { #expect(tracks.packetize() == nil) }
        }
        let (video, audio) = (try #require(tracks.video), try #require(tracks.audio))
        #expect(video.endSequence == 250 && audio.endSequence == 250)
        #expect(video.ring.sequences == 0..<250)
        for index in 0..<250 as Range<Int64> {
            let packet = video.ring.packet(sequence: index)
            #expect(packet?.pts == index * 40_000)
            #expect(video.ring.time(ofSequence: index) == start + .milliseconds(index * 40))
        }
    }

    @Test("After the viewers have left, what they were sent is freed after 12 s")
    func left() throws {
        var tracks = tracks()
        fill(&tracks, isWatched: true)
        #expect(tracks.video?.ring.byteCount != 0)
        let later = start + .seconds(30)
        #expect(tracks.append(picture(750, isKey: true), at: later, isWatched: false) == nil)
        #expect(tracks.video?.ring.byteCount == 0 && tracks.audio?.ring.byteCount == 0)
        #expect(tracks.packetize() == nil)
        #expect(tracks.video?.startSequence == 250 && tracks.video?.endSequence == 251)
    }

    @Test("A camera that sends no second key frame does not fill the memory")
    func withoutKeyFrames() throws {
        var tracks = tracks()
        for index in 0..<3_000 as Range<Int64> {
            #expect(tracks.append(picture(index, isKey: index == 0), at: start, isWatched: false) == nil)
        }
        #expect(tracks.video?.endSequence == 2_000)
    }
}
