import IoTCore
import Testing

@testable import GatewayAPI

/// Each broken set-up is named, and only it.
@Suite struct DiagnosisTests {
    /// A channel that works: stages, a second each at most, and statistics after some seconds.
    private func channel(
        connected: Double = 0.2, received: Double = 0.3, shown: Double = 0.4,
        _ change: (inout ChannelDescription) -> Void = { _ in }
    ) -> ChannelDescription {
        var channel = ChannelDescription(
            id: "c", device: "d", deviceName: "front", source: .main, kind: .monitor,
            state: ChannelState(connection: .connected, player: .playing),
            tracks: [
                TrackDescription(kind: .video, codec: "h264", width: 640, height: 360, frameRate: 25),
                TrackDescription(kind: .audio, codec: "aac", sampleRate: 8000, channels: 1),
            ])
        channel.stages = [
            StageDescription(stage: 1, name: "created", time: 0),
            StageDescription(stage: 3, name: "connected", time: connected, facts: ["route": "host"]),
        ]
        for track in MediaKind.allCases {
            channel.stages?.append(StageDescription(stage: 7, name: "received", track: track, time: received))
            channel.stages?.append(StageDescription(stage: 8, name: "decoded", track: track, time: shown - 0.01))
            channel.stages?.append(StageDescription(stage: 9, name: "shown", track: track, time: shown))
        }
        var report = StatisticsReport(timestamp: 12_000)
        report.processingTime = ProcessingTimeReport(p50: 0.08, p95: 0.1)
        report.audioVideoDistance = 0.01
        report.video = TrackStatistics()
        report.video?.packetsReceived = 1000
        report.video?.framesDecoded = 300
        report.video?.totalDecodeTime = 1.5
        report.video?.keyFrameDistance = 2
        channel.statistics = report
        change(&channel)
        return channel
    }

    private func problems(
        _ channel: ChannelDescription?, rate: Double? = 25, loudest: Double? = 0.5, failure: ErrorCode? = nil
    ) -> [Diagnosis.Problem] {
        let diagnosis = Diagnosis(
            device: "front",
            DiagnosisObservation(
                failure: failure.map { IoTError($0) }, channel: channel, pictureRate: rate, loudest: loudest))
        for finding in diagnosis.findings { #expect(!finding.advice.isEmpty && !finding.message.isEmpty) }
        #expect(diagnosis.isHealthy == diagnosis.findings.isEmpty)
        return diagnosis.findings.map(\.problem)
    }

    @Test("A camera in order has no finding")
    func healthy() {
        #expect(problems(channel()) == [])
        #expect(problems(channel(), rate: nil, loudest: nil) == [], "what was not measured is no problem")
    }

    @Test("The times of the guide's own sample: connecting and the data are slow")
    func sample() {
        let slow = channel(connected: 3.28, received: 6.58, shown: 6.66)
        let diagnosis = Diagnosis(device: "front", DiagnosisObservation(channel: slow, pictureRate: 25, loudest: 1))
        #expect(diagnosis.findings.map(\.problem) == [.slowConnection, .slowData])
        #expect(diagnosis.findings.first?.message == "connecting took 3.28 s, more than 1 s")
        #expect(diagnosis.times.decoding.map { abs($0 - 0.08) < 1e-9 } == true && diagnosis.route == "host")
    }

    @Test("A second is the limit of each part")
    func limits() {
        #expect(problems(channel(connected: 1, received: 2, shown: 3)) == [])
        #expect(problems(channel(connected: 1.01, received: 2, shown: 3)) == [.slowConnection])
        #expect(problems(channel(connected: 1, received: 2.01, shown: 3)) == [.slowData])
        #expect(problems(channel(connected: 1, received: 2, shown: 3.01)) == [.slowDecoder])
    }

    @Test(
        "A channel that cannot be opened is explained by its error",
        arguments: [
            (ErrorCode.handshakeTimeout, Diagnosis.Problem.noRoute), (.noRelayAddress, .noRoute),
            (.timeoutDisconnected, .noRoute), (.deviceOffline, .deviceOffline), (.peerTimeout, .deviceOffline),
            (.callSendTimeout, .linkOffline), (.deviceDisabled, .cameraOff), (.sourceUnreachable, .sourceFailed),
            (.relationInvalid, .refused),
        ])
    func failures(code: ErrorCode, problem: Diagnosis.Problem) {
        #expect(problems(nil, failure: code) == [problem])
        #expect(problems(channel(connected: 5), failure: code) == [problem], "the failure is the reason of the rest")
    }

    @Test("A slow source, a slow decoder, rare key frames and silent sound are told apart")
    func causes() {
        #expect(problems(channel(), rate: 2.5) == [.slowSource])
        #expect(problems(channel { $0.statistics?.video?.totalDecodeTime = 15 }) == [.slowDecoder])
        #expect(problems(channel { $0.statistics?.video?.keyFrameDistance = 12 }) == [.keyFramesFarApart])
        #expect(problems(channel(), loudest: 0) == [.silentSound])
    }

    @Test("A slow decoder also makes frames late: the network is not blamed")
    func lateFrames() {
        let late = ProcessingTimeReport(p50: 0.1, p95: 2)
        #expect(problems(channel { $0.statistics?.processingTime = late }) == [.unsteadyNetwork])
        let slow = channel {
            $0.statistics?.processingTime = late
            $0.statistics?.video?.totalDecodeTime = 20
        }
        #expect(problems(slow) == [.slowDecoder])
    }

    @Test("Missing media")
    func missing() {
        #expect(problems(channel { $0.stages?.removeAll { $0.stage >= 7 && $0.track == .video } }) == [.noPicture])
        #expect(problems(channel { $0.stages?.removeAll { $0.stage >= 8 && $0.track == .video } }) == [.undecodable])
        #expect(
            problems(channel { $0.stages?.removeAll { $0.stage >= 7 && $0.track == .audio } }, loudest: nil)
                == [.noSound])
        #expect(problems(channel { $0.tracks = [] }) == [.noHeader])
    }

    @Test("Losses, and tracks that are apart")
    func network() {
        #expect(problems(channel { $0.statistics?.video?.packetsLost = 50 }) == [.lossyNetwork])
        #expect(problems(channel { $0.statistics?.video?.packetsLost = 10 }) == [])
        #expect(problems(channel { $0.statistics?.audioVideoDistance = -1.4 }) == [.tracksApart])
    }

    @Test("A diagnosis is JSON")
    func coding() throws {
        let diagnosis = Diagnosis(device: "front", DiagnosisObservation(channel: channel(), pictureRate: 2))
        #expect(try APICoding.decode(Diagnosis.self, from: try APICoding.encode(diagnosis)) == diagnosis)
    }
}
