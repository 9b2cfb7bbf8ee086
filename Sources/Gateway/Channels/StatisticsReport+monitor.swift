import GatewayAPI
import IoTCore
import MediaChannel
import MediaPlayer

extension StatisticsReport {
    init(_ channel: MonitorDescription) {
        self.init(timestamp: WallClock.milliseconds())
        currentRoundTripTime = channel.roundTripTime
        firstPicturePts = channel.firstPicturePts
        guard let statistics = channel.statistics else { return }
        video = statistics.video.map { TrackStatistics($0) }
        audio = statistics.audio.map { TrackStatistics($0) }
        firstFrameTime = statistics.firstFrameTime
        liveEdgeTime = statistics.liveEdgeTime
        bitrate = Int((statistics.video?.bitrate ?? 0) + (statistics.audio?.bitrate ?? 0))
        tolerance = statistics.tolerance
        delay = statistics.delay
        audioVideoSkew = statistics.audioVideoSkew
        audioVideoDistance = statistics.audioVideoDistance
        processingTime = statistics.processingTime.map { ProcessingTimeReport(p50: $0.p50, p95: $0.p95) }
        discontinuities = statistics.discontinuityCount
        sinks = statistics.sinks.isEmpty ? nil : statistics.sinks.map { SinkReport($0) }
    }
}

extension TrackStatistics {
    init(_ video: VideoTrackStatistics) {
        self.init(packets: video.packets, dropped: video.framesDroppedByReason)
        bitrate = Int(video.bitrate)
        framesReceived = video.framesReceived
        framesDecoded = video.framesDecoded
        keyFramesDecoded = video.keyFramesDecoded
        totalDecodeTime = video.totalDecodeTime
        keyFrameDistance = video.keyFrameDistance
        framesShown = video.framesShown
        framesDropped = video.framesDropped
        framesPerSecond = video.framesPerSecond
        frameWidth = video.frameWidth
        frameHeight = video.frameHeight
        freezeCount = video.freezeCount
        totalFreezesDuration = video.totalFreezesDuration
    }

    init(_ audio: AudioTrackStatistics) {
        self.init(packets: audio.packets, dropped: audio.framesDroppedByReason)
        bitrate = Int(audio.bitrate)
        framesReceived = audio.framesReceived
        framesDecoded = audio.framesDecoded
        framesShown = audio.framesHeard
        framesDropped = audio.framesDropped
    }

    private init(packets: PacketCounters, dropped: DropCounters) {
        self.init()
        packetsReceived = packets.packetsReceived
        bytesReceived = packets.bytesReceived
        packetsLost = packets.packetsLost
        packetsDuplicated = packets.packetsDuplicated
        retransmittedPacketsReceived = packets.retransmittedPacketsReceived
        nackCount = packets.nackCount
        pliCount = packets.pliCount
        jitter = packets.jitter
        decodeErrors = dropped.corrupt
        framesDroppedByReason = [
            DropReason.late.rawValue: dropped.late, DropReason.lost.rawValue: dropped.lost,
            DropReason.slowReader.rawValue: dropped.slowReader, DropReason.corrupt.rawValue: dropped.corrupt,
        ].filter { $0.value > 0 }
    }
}

extension SinkReport {
    init(_ sink: SinkStatistics) {
        self.init(
            kind: sink.kind.rawValue, isOpen: sink.isOpen, frames: sink.frames, framesDropped: sink.framesDropped,
            bytesDropped: sink.bytesDropped)
    }
}
