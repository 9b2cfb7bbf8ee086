import IoTCore
import MediaPlayer

// What a viewer would see and hear.
extension PlayoutSimulation {
    /// Pictures in the order in which they are shown.
    var shown: [Shown] {
        released.filter { $0.kind == .video && !$0.isLate }.sorted { $0.presentAt < $1.presentAt }
    }

    var heard: [Shown] {
        released.filter { $0.kind == .audio && !$0.isLate }.sorted { $0.presentAt < $1.presentAt }
    }

    /// Pictures shown after a picture with a later time.
    var outOfOrder: Int {
        zip(shown, shown.dropFirst()).count { $0.capture >= $1.capture }
    }

    /// The picture's delay against the sound, for each picture with sound, µs.
    func skews(from begin: Int64 = 0) -> [(at: Int64, skew: Int64)] {
        var skews: [(at: Int64, skew: Int64)] = []
        var sound = 0
        let heard = heard
        for picture in shown where picture.presentAt >= begin {
            while sound + 1 < heard.count, heard[sound + 1].presentAt <= picture.presentAt { sound += 1 }
            guard
                let near = [heard[safe: sound], heard[safe: sound + 1]].compactMap({ $0 })
                    .min(by: { abs($0.presentAt - picture.presentAt) < abs($1.presentAt - picture.presentAt) }),
                abs(near.presentAt - picture.presentAt) < 40_000
            else { continue }
            skews.append((picture.presentAt, (picture.presentAt - picture.capture) - (near.presentAt - near.capture)))
        }
        return skews
    }

    func largestSkew(from begin: Int64 = 0) -> Int64 {
        skews(from: begin).map { abs($0.skew) }.max() ?? .max
    }

    func freezes(from begin: Int64 = 0) -> FreezeMeter {
        var meter = FreezeMeter()
        for picture in shown where picture.presentAt >= begin { meter.frameShown(at: picture.presentAt) }
        return meter
    }

    /// Pictures that a decoder which reorders over `depth` frames would output only after they were due.
    func decodedTooLate(depth: Int) -> Int {
        var waiting: [Shown] = []
        var late = 0
        for frame in released where frame.kind == .video {
            waiting.append(frame)
            waiting.sort { $0.capture < $1.capture }
            while waiting.count > depth {
                let picture = waiting.removeFirst()
                if !picture.isLate, frame.releasedAt > picture.presentAt { late += 1 }
            }
        }
        return late
    }

    /// The total concealed time, µs.
    var concealed: Int64 {
        outputs.reduce(0) {
            guard case .conceal(let duration, _) = $1.output else { return $0 }
            return $0 + duration
        }
    }

    func delay(at time: Int64) -> Int64 {
        delays.last { $0.at <= time }?.delay ?? 0
    }

    var isReleasedInOrder: Bool {
        for kind in MediaKind.allCases {
            let indices = released.filter { $0.kind == kind }.map(\.decodingIndex)
            if zip(indices, indices.dropFirst()).contains(where: { $0 >= $1 }) { return false }
        }
        return true
    }

    func times(of matches: (PlayoutOutput) -> Bool) -> [Int64] {
        outputs.filter { matches($0.output) }.map(\.at)
    }

    /// One line for a failed expectation.
    var summary: String {
        let freezes = freezes()
        let late = released.count { $0.kind == .video && $0.isLate }
        let lateSound = released.count { $0.kind == .audio && $0.isLate }
        return """
            shown \(shown.count) late \(late) heard \(heard.count) late \(lateSound) out of order \(outOfOrder) \
            skew \(largestSkew()) freezes \(freezes.freezeCount) of \(freezes.totalFreezesMicroseconds) \
            concealed \(concealed) delay \(delays.last?.delay ?? -1) tolerance \(delays.last?.tolerance ?? -1) \
            edge \(String(describing: buffer.report.liveEdgeTime)) decoded late \(decodedTooLate(depth: 1))
            """
    }
}
