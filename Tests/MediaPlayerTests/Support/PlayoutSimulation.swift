import IoTCore
import MediaPlayer
import MediaTestSupport
import NIOCore

/// Simulates a camera, a lossy network with retransmission, a jitter buffer and a screen in virtual time.
///
/// 25 pictures per second in groups of `I b b P b b P …`, and sound in pieces of 20 ms. Each track has its own zero of
/// time. Lost packets are requested again; frames become complete only in decoding order.
struct PlayoutSimulation {
    struct Scenario {
        var seconds: Int64 = 60
        var link = VirtualLink<Packet>.Configuration()
        /// How much faster the camera's clock runs than the viewer's, in millionths.
        var drift = 0.0
        var hasVideo = true
        var hasAudio = true
        var groupLength = 48
        var hasBFrames = true
        /// The reorder depth that is set in the buffer; nil: none is set.
        var reorderDepth: Int? = 1
        /// The age of the first group of pictures that the viewer gets, and the speed at which it gets it.
        var burst: Int64 = 0
        var burstSpeed = 1_000.0
        /// When the first sender report comes; nil: never.
        var firstReport: Int64? = 200_000
        /// The camera sends its pictures this much later than its sound.
        var videoLag: Int64 = 0
        /// Packets due for sending in this time are sent at its end.
        var outage: Range<Int64>?
        /// From this capture time on, both tracks' times are larger by this amount.
        var jump: (at: Int64, by: Int64)?
        /// From this time on, the link has this jitter.
        var jitterChange: (at: Int64, jitter: TimeAmount)?
        /// The numbers of the pictures that never come.
        var lostPictures: Set<Int> = []
        var options = JitterBufferOptions()
    }

    struct Packet {
        var kind: MediaKind
        var sequence: Int
        var frame: Int
    }

    struct SentFrame {
        var kind: MediaKind
        var isKeyFrame: Bool
        /// On the camera's clock, µs since the viewer joined.
        var capture: Int64
        /// On the track's own time line.
        var pts: Int64
        var sendAt: Int64
        var packets: Range<Int>
    }

    struct Shown {
        var kind: MediaKind
        var pts: Int64
        var capture: Int64
        var presentAt: Int64
        var releasedAt: Int64
        var isLate: Bool
        var decodingIndex: Int
    }

    private(set) var released: [Shown] = []
    private(set) var outputs: [(at: Int64, output: PlayoutOutput)] = []
    private(set) var delays: [(at: Int64, tolerance: Int64, delay: Int64)] = []
    private(set) var buffer: JitterBuffer
    private(set) var sent: [MediaKind: [SentFrame]] = [:]

    private let scenario: Scenario
    private var link: VirtualLink<Packet>
    private var back: VirtualLink<Packet>
    private var receivers: [MediaKind: Receiver] = [:]
    private static let zero: Int64 = 1_000_000_000
    private static let trackZero: [MediaKind: Int64] = [.video: 77_000_000, .audio: 3_000_000]
    private static let wallZero: Int64 = 1_700_000_000_000_000

    /// Reassembles packets in decoding order, and requests missing ones.
    private struct Receiver {
        var nextFrame = 0
        var highest = -1
        var arrived: Set<Int> = []
        var missing: [Int: (due: Int64, tries: Int)] = [:]
        var arrivals: [Int: Int64] = [:]
    }

    init(_ scenario: Scenario) {
        self.scenario = scenario
        link = VirtualLink(scenario.link)
        var backward = scenario.link
        backward.seed &+= 1_000
        back = VirtualLink(backward)
        buffer = JitterBuffer(options: scenario.options, now: Self.deadline(0))
        if scenario.hasVideo, let depth = scenario.reorderDepth {
            buffer.setVideoParameters(
                VideoParameters(codec: .h264, width: 640, height: 360, frameRate: 25, reorderDepth: depth))
        }
        makeVideo()
        makeAudio()
    }

    static func run(_ scenario: Scenario) -> PlayoutSimulation {
        var simulation = PlayoutSimulation(scenario)
        simulation.run()
        return simulation
    }

    // MARK: The camera

    private mutating func makeVideo() {
        guard scenario.hasVideo else { return }
        let interval: Int64 = 40_000
        var frames: [SentFrame] = []
        var sequence = 0
        var newestCapture = Int64.min
        let groupMicroseconds = Int64(scenario.groupLength) * interval
        var groupBegin = -scenario.burst
        while groupBegin < scenario.seconds * 1_000_000 {
            for (place, picture) in decodingOrder().enumerated() {
                let capture = groupBegin + Int64(picture) * interval
                newestCapture = max(newestCapture, capture)
                let isKeyFrame = place == 0
                let count = isKeyFrame ? 50 : (scenario.hasBFrames && picture % 3 != 0 ? 6 : 15)
                // A file is sent by its decoding times: one frame ahead for frames that are not reordered.
                let decodingTime = groupBegin + Int64(place - (scenario.hasBFrames ? 1 : 0)) * interval
                frames.append(
                    SentFrame(
                        kind: .video, isKeyFrame: isKeyFrame, capture: capture, pts: 0,
                        sendAt: decodingTime + scenario.videoLag, packets: sequence..<sequence + count))
                sequence += count
            }
            groupBegin += groupMicroseconds
        }
        sent[.video] = finish(frames)
    }

    /// The pictures of one group, by their place in presentation order.
    private func decodingOrder() -> [Int] {
        guard scenario.hasBFrames else { return Array(0..<scenario.groupLength) }
        // 0 3 1 2 6 4 5 …; the last two follow without a later reference picture.
        var order = [0]
        var next = 1
        while next < scenario.groupLength {
            if next + 2 < scenario.groupLength {
                order += [next + 2, next, next + 1]
                next += 3
            } else {
                order.append(next)
                next += 1
            }
        }
        return order
    }

    private mutating func makeAudio() {
        guard scenario.hasAudio else { return }
        var frames: [SentFrame] = []
        var capture = -scenario.burst
        while capture < scenario.seconds * 1_000_000 {
            frames.append(
                SentFrame(
                    kind: .audio, isKeyFrame: true, capture: capture, pts: 0, sendAt: capture,
                    packets: frames.count..<frames.count + 1))
            capture += 20_000
        }
        sent[.audio] = finish(frames)
    }

    private func finish(_ frames: [SentFrame]) -> [SentFrame] {
        frames.map { frame in
            var frame = frame
            frame.pts = line(frame.kind, at: frame.capture)
            if frame.sendAt < 0 {
                frame.sendAt = Int64(Double(frame.sendAt + scenario.burst + 40_000) / scenario.burstSpeed)
            } else {
                let edge = Int64(Double(scenario.burst) / scenario.burstSpeed)
                frame.sendAt = max(frame.sendAt, edge)
            }
            frame.sendAt = Int64(Double(frame.sendAt) / (1 + scenario.drift / 1_000_000))
            if let outage = scenario.outage, outage.contains(frame.sendAt) { frame.sendAt = outage.upperBound }
            return frame
        }
    }

    private func line(_ kind: MediaKind, at capture: Int64) -> Int64 {
        var pts = capture + (Self.trackZero[kind] ?? 0)
        if let jump = scenario.jump, capture >= jump.at { pts += jump.by }
        return pts
    }

    // MARK: Running

    /// More steps than any scenario needs; reaching it means that time does not advance.
    private static let maximumSteps = 2_000_000

    private mutating func run() {
        var next: [MediaKind: Int] = [:]
        for kind in [MediaKind.video, .audio] where sent[kind] != nil {
            next[kind] = 0
            receivers[kind] = Receiver()
        }
        var nextReport: Int64 = scenario.firstReport ?? .max
        var changedJitter = false
        let end = scenario.seconds * 1_000_000
        var bufferDue = Int64.max
        for _ in 0..<Self.maximumSteps {
            var now = min(nextReport, bufferDue)
            for (kind, index) in next { now = min(now, sent[kind]?[safe: index]?.sendAt ?? .max) }
            now = min(now, link.nextArrival.map(Self.time) ?? .max, back.nextArrival.map(Self.time) ?? .max)
            for receiver in receivers.values { now = min(now, receiver.missing.values.map(\.due).min() ?? .max) }
            guard now < end else { break }
            if let change = scenario.jitterChange, now >= change.at, !changedJitter {
                changedJitter = true
                link.configuration.jitter = change.jitter
            }
            for kind in [MediaKind.video, .audio] {
                while let index = next[kind], let frame = sent[kind]?[safe: index], frame.sendAt <= now {
                    next[kind] = index + 1
                    if kind == .video, scenario.lostPictures.contains(index) { continue }
                    for sequence in frame.packets { transmit(kind, sequence, index, at: now) }
                }
            }
            if now >= nextReport {
                nextReport += 1_000_000
                reportTimes(at: now)
            }
            while let asked = back.receive(at: Self.deadline(now)) {
                transmit(asked.kind, asked.sequence, asked.frame, at: now)
            }
            while let packet = link.receive(at: Self.deadline(now)) { take(packet, at: now) }
            ask(at: now)
            if bufferDue <= now { buffer.handleTimeout(at: Self.deadline(now)) }
            bufferDue = drain(at: now)
            if bufferDue <= now { bufferDue = now + 1 }
        }
    }

    private mutating func transmit(_ kind: MediaKind, _ sequence: Int, _ frame: Int, at now: Int64) {
        link.send(
            Packet(kind: kind, sequence: sequence, frame: frame), size: kind == .video ? 1_100 : 200,
            at: Self.deadline(now))
    }

    private mutating func reportTimes(at now: Int64) {
        for kind in [MediaKind.video, .audio] where sent[kind] != nil {
            let capture = Int64(Double(now) * (1 + scenario.drift / 1_000_000))
            buffer.senderReport(
                kind, senderMicroseconds: Self.wallZero + capture, trackPts: line(kind, at: capture),
                at: Self.deadline(now))
        }
    }

    private mutating func take(_ packet: Packet, at now: Int64) {
        // Removed from the dictionary, so that its sets are not copied for every packet.
        guard let frames = sent[packet.kind], var receiver = receivers.removeValue(forKey: packet.kind) else { return }
        receiver.arrived.insert(packet.sequence)
        receiver.missing[packet.sequence] = nil
        receiver.arrivals[packet.frame] = now
        if packet.sequence > receiver.highest {
            for sequence in (receiver.highest + 1)..<packet.sequence where !receiver.arrived.contains(sequence) {
                receiver.missing[sequence] = (now + 10_000, 0)
            }
            receiver.highest = packet.sequence
        }
        while let frame = frames[safe: receiver.nextFrame] {
            if packet.kind == .video, scenario.lostPictures.contains(receiver.nextFrame),
                receiver.highest >= frame.packets.upperBound
            {
                for sequence in frame.packets { receiver.missing[sequence] = nil }
                buffer.frameLost(.video, at: Self.deadline(now))
                receiver.nextFrame += 1
                continue
            }
            guard frame.packets.allSatisfy(receiver.arrived.contains) else { break }
            for sequence in frame.packets { receiver.arrived.remove(sequence) }
            let arrival = receiver.arrivals.removeValue(forKey: receiver.nextFrame) ?? now
            receiver.nextFrame += 1
            buffer.receive(
                MediaFrame(
                    kind: frame.kind, isKeyFrame: frame.isKeyFrame, pts: frame.pts, dts: frame.pts,
                    bytes: ByteBuffer(integer: UInt32(receiver.nextFrame))),
                arrival: Self.deadline(arrival), at: Self.deadline(now))
        }
        receivers[packet.kind] = receiver
    }

    private func frameIndex(of sequence: Int, _ kind: MediaKind) -> Int {
        guard let frames = sent[kind] else { return 0 }
        var low = 0
        var high = frames.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if frames[middle].packets.lowerBound <= sequence { low = middle } else { high = middle }
        }
        return low
    }

    private mutating func ask(at now: Int64) {
        // In a fixed order, so that a seed always gives the same network.
        for kind in [MediaKind.video, .audio] {
            let due = receivers[kind]?.missing.filter { $0.value.due <= now }.sorted { $0.key < $1.key } ?? []
            for (sequence, state) in due {
                let frame = frameIndex(of: sequence, kind)
                receivers[kind]?.missing[sequence] = (now + 70_000, state.tries + 1)
                back.send(Packet(kind: kind, sequence: sequence, frame: frame), size: 60, at: Self.deadline(now))
            }
        }
    }

    /// Like a screen that asks again before it shows a picture.
    private mutating func updatePresentTimes(at now: Int64) {
        for index in released.indices.suffix(40) {
            let frame = released[index]
            guard frame.kind == .video, !frame.isLate, frame.presentAt > now else { continue }
            released[index].presentAt =
                buffer.presentTime(ofReleasedPicture: frame.pts).map(Self.time) ?? frame.presentAt
        }
    }

    private mutating func drain(at now: Int64) -> Int64 {
        updatePresentTimes(at: now)
        while let output = buffer.poll() {
            switch output {
            case .timeout(let time):
                delays.append(
                    (
                        now, buffer.currentTolerance.nanoseconds / 1_000, buffer.currentDelay.nanoseconds / 1_000
                    ))
                return Self.time(time)
            case .release(let kind, let frame, let presentAt, let isLate):
                let index = Int(frame.bytes.getInteger(at: 0, as: UInt32.self) ?? 1) - 1
                released.append(
                    Shown(
                        kind: kind, pts: frame.pts, capture: sent[kind]?[index].capture ?? 0,
                        presentAt: Self.time(presentAt), releasedAt: now, isLate: isLate, decodingIndex: index))
            default:
                break
            }
            outputs.append((now, output))
        }
        return .max
    }

    private static func deadline(_ time: Int64) -> NIODeadline {
        .uptimeNanoseconds(UInt64(max(0, time + zero)) * 1_000)
    }

    private static func time(_ deadline: NIODeadline) -> Int64 {
        // Rounded up, so that due frames have arrived by then.
        Int64((deadline.uptimeNanoseconds + 999) / 1_000) - zero
    }
}

extension Array {
    subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
