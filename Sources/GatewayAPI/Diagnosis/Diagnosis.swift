import IoTCore

/// What is wrong with a camera's picture or sound, and what to do about it. The limits are those of the IoT video SDK
/// guide: one second each for connecting, for the first data, for decoding, and for the distance of sound and picture.
public struct Diagnosis: Codable, Hashable, Sendable {
    /// A part of the way from the camera to the viewer.
    public enum Part: String, Codable, Hashable, Sendable, CaseIterable {
        /// Stages 1 to 3.
        case connection
        /// Stages 3 to 7.
        case data
        /// Stages 7 to 9.
        case decoding
        case sound
    }

    public enum Problem: String, Codable, Hashable, Sendable, CaseIterable {
        // The connection.
        case noRoute, deviceOffline, linkOffline, cameraOff, sourceFailed, refused, slowConnection
        // The data.
        case noHeader, noPicture, slowData, slowSource, lossyNetwork, unsteadyNetwork, keyFramesFarApart, tracksApart
        // Decoding.
        case undecodable, slowDecoder
        // The sound.
        case noSound, silentSound
    }

    public struct Finding: Codable, Hashable, Sendable {
        public var problem: Problem
        public var part: Part
        public var message: String
        /// What to check, in this order.
        public var advice: [String]
    }

    /// Seconds; `nil` for a part that was not passed.
    public struct Times: Codable, Hashable, Sendable {
        /// Stages 1 to 3.
        public var connection: Double?
        /// Stages 3 to 7.
        public var data: Double?
        /// Stages 7 to 9.
        public var decoding: Double?
        /// From a frame's arrival until it is shown.
        public var processing: ProcessingTimeReport?
    }

    public var device: String
    /// The most important first; empty if all is well.
    public var findings: [Finding] = []
    public var times = Times()
    /// `host`, `srflx` or `relay`.
    public var route: String?
    public var tracks: [TrackDescription] = []
    public var stages: [StageDescription] = []
    public var statistics: StatisticsReport?

    public init(device: String, _ observation: DiagnosisObservation) {
        self.device = device
        if let channel = observation.channel {
            tracks = channel.tracks
            stages = channel.stages ?? []
            statistics = channel.statistics
            route = Self.first(3, of: stages)?.facts["route"]?.stringValue
            times = Times(stages, main: mainTrack, processing: statistics?.processingTime)
        }
        if let failure = observation.failure {
            findings.append(.failed(failure))
        } else {
            examine(observation)
        }
    }

    public var isHealthy: Bool { findings.isEmpty }

    /// The track whose stages count: the picture, or the sound without one.
    private var mainTrack: MediaKind { tracks.contains { $0.kind == .video } || tracks.isEmpty ? .video : .audio }

    static func first(_ stage: Int, _ track: MediaKind? = nil, of stages: [StageDescription]) -> StageDescription? {
        stages.first { $0.stage == stage && (track == nil || $0.track == nil || $0.track == track) }
    }

    // MARK: Rules

    private mutating func examine(_ observation: DiagnosisObservation) {
        examineTimes()
        examineTracks()
        examinePicture(observation.pictureRate)
        examineNetwork()
        examineSound(observation.loudest)
    }

    private mutating func examineTimes() {
        if let time = times.connection, time > DiagnosisLimits.stage { findings.append(.slowConnection(time)) }
        if let time = times.data, time > DiagnosisLimits.stage { findings.append(.slowData(time)) }
        if let time = times.decoding, time > DiagnosisLimits.stage { findings.append(.slowStart(time)) }
    }

    private mutating func examineTracks() {
        guard !tracks.isEmpty else { return findings.append(.noHeader) }
        guard tracks.contains(where: { $0.kind == .video }) else { return }
        if Self.first(7, .video, of: stages) == nil {
            findings.append(.noPicture)
        } else if Self.first(8, .video, of: stages) == nil {
            findings.append(.undecodable)
        }
    }

    private mutating func examinePicture(_ rate: Double?) {
        guard let video = statistics?.video else { return }
        let announced = tracks.first { $0.kind == .video }?.frameRate
        if let rate, let announced, announced > 0, rate < announced * DiagnosisLimits.slowSource {
            findings.append(.slowSource(rate: rate, announced: announced))
        }
        let needed = rate ?? announced ?? 0
        if let time = video.totalDecodeTime, let count = video.framesDecoded, count > 0, needed > 0,
            time / Double(count) * needed > DiagnosisLimits.decoderLoad,
            !findings.contains(where: { $0.problem == .slowDecoder })
        {
            findings.append(.slowDecoder(time: time / Double(count), rate: needed))
        }
        if let distance = video.keyFrameDistance, distance > DiagnosisLimits.keyFrames {
            findings.append(.keyFramesFarApart(distance))
        }
    }

    private mutating func examineNetwork() {
        guard let statistics else { return }
        for track in [statistics.video, statistics.audio] {
            guard let lost = track?.packetsLost, let received = track?.packetsReceived, lost > 0 else { continue }
            let share = Double(lost) / Double(lost + max(0, received))
            guard share > DiagnosisLimits.loss else { continue }
            findings.append(.lossyNetwork(share))
            break
        }
        let isDecoderSlow = findings.contains { $0.problem == .slowDecoder }
        if let times = statistics.processingTime, !isDecoderSlow,
            times.p95 > DiagnosisLimits.stage || times.p95 - times.p50 > DiagnosisLimits.unsteady
        {
            findings.append(.unsteadyNetwork(times))
        }
        if let distance = statistics.audioVideoDistance, abs(distance) > DiagnosisLimits.stage {
            findings.append(.tracksApart(distance))
        }
    }

    private mutating func examineSound(_ loudest: Double?) {
        guard tracks.contains(where: { $0.kind == .audio }) else { return }
        guard Self.first(7, .audio, of: stages) != nil else { return findings.append(.noSound) }
        if let loudest, loudest < DiagnosisLimits.silence { findings.append(.silentSound) }
    }
}

/// The limits of the rules. Seconds, unless noted.
enum DiagnosisLimits {
    /// The guide's limit for each part, and for the distance of sound and picture.
    static let stage = 1.0
    /// How much of the announced picture rate must arrive.
    static let slowSource = 0.5
    /// How much of its time the decoder may work.
    static let decoderLoad = 0.9
    /// With key frames further apart, a viewer who lost one picture sees a frozen one for too long.
    static let keyFrames = 10.0
    /// A share of the packets.
    static let loss = 0.02
    /// The largest difference between usual and slow frames.
    static let unsteady = 0.5
    /// −60 dB.
    static let silence = 0.001
}

extension Diagnosis.Times {
    init(_ stages: [StageDescription], main: MediaKind, processing: ProcessingTimeReport?) {
        func time(_ stage: Int, _ track: MediaKind? = nil) -> Double? {
            Diagnosis.first(stage, track, of: stages)?.time
        }
        func between(_ from: Double?, _ to: Double?) -> Double? {
            guard let from, let to else { return nil }
            return max(0, to - from)
        }
        self.init(
            connection: between(time(1), time(3)), data: between(time(3), time(7, main)),
            decoding: between(time(7, main), time(9, main)), processing: processing)
    }
}
