package import IoTCore
package import MediaPlayer
package import NIOCore

/// A clip that is delivered on request, like a file or a recording.
package final class ClipSource: FrameSource {
    package let delivery = FrameDelivery.askedFor
    package var onReady: ((NIODeadline) -> Void)?

    package let clip: SampleClip
    /// The delay between a request and its frames.
    package var latency = TimeAmount.zero
    package private(set) var asked: [(through: Int64, at: NIODeadline)] = []
    package private(set) var seeks: [Int64] = []
    package private(set) var rates: [Double] = []
    package private(set) var isClosed = false
    package private(set) var keyFrameRequests: [NIODeadline] = []

    private var outputs: [FrameSourceOutput] = []
    private var wants: [(through: Int64, from: NIODeadline)] = []
    private var next = 0
    private var generation = 0
    private var isComplete = false

    package init(_ clip: SampleClip) {
        self.clip = clip
    }

    package var duration: Int64 { (clip.frames.map(\.pts).max() ?? 0) - (clip.frames.first?.pts ?? 0) }

    package func open(at now: NIODeadline) {
        let start = clip.frames.first?.pts ?? 0
        outputs.append(
            .opened(FrameSourceDescription(video: clip.video, audio: clip.audio, start: start, duration: duration)))
    }

    package func want(through pts: Int64, at now: NIODeadline) {
        asked.append((pts, now))
        wants.append((pts, now + latency))
    }

    package func seek(to pts: Int64, generation: Int, at now: NIODeadline) {
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

    package func setRate(_ rate: Double, at now: NIODeadline) {
        rates.append(rate)
    }

    package var nextTimeout: NIODeadline? { wants.first { frame(through: $0.through) != nil }?.from }

    private func frame(through pts: Int64) -> MediaFrame? {
        next < clip.frames.count && clip.frames[next].dts <= pts ? clip.frames[next] : nil
    }

    package func poll(at now: NIODeadline) -> FrameSourceOutput? {
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

    package func requestKeyFrame(at now: NIODeadline) {
        keyFrameRequests.append(now)
    }

    package func close(_ reason: IoTError?, at now: NIODeadline) {
        isClosed = true
    }
}
