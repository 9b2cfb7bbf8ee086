import IoTCore
import MediaTestSupport
import NIOCore

@testable import MediaPlayer

/// A clip that is delivered on request, like a file or a recording.
final class ClipSource: FrameSource {
    let delivery = FrameDelivery.askedFor
    var onReady: ((NIODeadline) -> Void)?

    let clip: SampleClip
    /// The delay between a request and its frames.
    var latency = TimeAmount.zero
    private(set) var asked: [(through: Int64, at: NIODeadline)] = []
    private(set) var seeks: [Int64] = []
    private(set) var rates: [Double] = []
    private(set) var isClosed = false
    private(set) var keyFrameRequests: [NIODeadline] = []

    private var outputs: [FrameSourceOutput] = []
    private var wants: [(through: Int64, from: NIODeadline)] = []
    private var next = 0
    private var generation = 0
    private var isComplete = false

    init(_ clip: SampleClip) {
        self.clip = clip
    }

    var duration: Int64 { (clip.frames.map(\.pts).max() ?? 0) - (clip.frames.first?.pts ?? 0) }

    func open(at now: NIODeadline) {
        let start = clip.frames.first?.pts ?? 0
        outputs.append(
            .opened(FrameSourceDescription(video: clip.video, audio: clip.audio, start: start, duration: duration)))
    }

    func want(through pts: Int64, at now: NIODeadline) {
        asked.append((pts, now))
        wants.append((pts, now + latency))
    }

    func seek(to pts: Int64, generation: Int, at now: NIODeadline) {
        seeks.append(pts)
        // Frames that were on their way when the user sought.
        for frame in clip.frames[next...].prefix(5) {
            outputs.append(.frame(SourceFrame(frame, arrival: now, generation: self.generation)))
        }
        self.generation = generation
        wants = []
        isComplete = false
        next = clip.frames.lastIndex { $0.kind == .video && $0.isKeyFrame && $0.pts <= pts } ?? 0
    }

    func setRate(_ rate: Double, at now: NIODeadline) {
        rates.append(rate)
    }

    var nextTimeout: NIODeadline? { wants.first { frame(through: $0.through) != nil }?.from }

    private func frame(through pts: Int64) -> MediaFrame? {
        next < clip.frames.count && clip.frames[next].dts <= pts ? clip.frames[next] : nil
    }

    func poll(at now: NIODeadline) -> FrameSourceOutput? {
        if !outputs.isEmpty { return outputs.removeFirst() }
        for want in wants where want.from <= now {
            guard let frame = frame(through: want.through) else { continue }
            next += 1
            return .frame(SourceFrame(frame, arrival: now, generation: generation))
        }
        guard next >= clip.frames.count, !isComplete else { return nil }
        isComplete = true
        return .complete(generation: generation)
    }

    func requestKeyFrame(at now: NIODeadline) {
        keyFrameRequests.append(now)
    }

    func close(_ reason: IoTError?, at now: NIODeadline) {
        isClosed = true
    }
}
