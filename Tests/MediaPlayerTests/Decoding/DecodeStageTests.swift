import IoTCore
import MediaTestSupport
import NIOCore
import Testing

@testable import MediaPlayer

/// Tests the decoding thread's work in virtual time, with real decoders.
@Suite struct DecodeStageTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private let time: VirtualTime
    private let queue = WaitingQueue()
    private let events = DecodeEvents()
    private let clip: SampleClip
    private let decoded = CountingDecoder.Count()
    private let stage: DecodeStage

    init() throws {
        let time = VirtualTime(start)
        let (queue, decoded) = (queue, decoded)
        self.time = time
        clip = try SampleClip("bunny-h264-aac51.mp4", rounds: 1)
        var parts = PlayerParts()
        parts.clock = { time.now }
        parts.jobQueue = { _, _ in queue }
        parts.pictureDecoder = { parameters throws(IoTError) in try CountingDecoder(parameters, decoded) }
        stage = DecodeStage(video: clip.video, audio: clip.audio, parts: parts, events: events) {}
    }

    private func pictures() -> [DecodedPicture] {
        events.take(at: time.now).compactMap { if case .picture(let picture) = $0 { picture } else { nil } }
    }

    @Test("A picture that leaves the decoder more than 80 ms after it was due is decoded but not shown")
    func late() {
        for frame in clip.frames.filter({ $0.kind == .video }).prefix(10) {
            _ = stage.decode(frame, presentAt: start + .microseconds(frame.pts), isLate: false)
        }
        stage.drain()
        // The pictures of the first 100 ms were due more than 80 ms ago.
        time.set(start + .milliseconds(180) + .microseconds(clip.frames[0].pts))
        queue.run()
        let decoded = pictures()
        #expect(decoded.count == 10)
        for picture in decoded {
            #expect(picture.isShown == (picture.pts - clip.frames[0].pts >= 100_000), "\(picture.pts)")
            #expect(picture.decodedAt == time.now)
        }
    }

    @Test("After a seek, no waiting frame is decoded or reported; new frames are")
    func seek() {
        let frames = clip.frames.filter { $0.kind == .video }
        for frame in frames.prefix(5) { _ = stage.decode(frame, presentAt: start, isLate: false) }
        stage.begin(generation: 1)
        for frame in frames.prefix(3) { _ = stage.decode(frame, presentAt: start, isLate: false, generation: 1) }
        stage.drain()
        queue.run()
        #expect(pictures().map(\.pts) == frames.prefix(3).map(\.pts).sorted())
        #expect(decoded.value == 3)
    }
}
