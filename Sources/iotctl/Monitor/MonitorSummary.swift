import GatewayAPI
import IoTCore

/// The summary that `iotctl monitor` prints at the end.
struct MonitorSummary: Codable, Sendable {
    struct File: Codable, Sendable {
        /// `recording`, `rawVideo`, `rawAudio`, `snapshot`, or a part of a dump, as in `DumpPart`.
        var kind: String
        var path: String
        var bytes: Int
        /// A snapshot's presentation time: µs on the source's clock.
        var pts: Int64?
        /// Frames that were dropped because the file was written too slowly; absent if none.
        var framesDropped: Int?
    }

    var channel: ChannelDescription
    var files: [File]
    /// The recordings of which the rest could not be played; absent if none.
    var unreadable: [PlaybackReport]?

    var text: String {
        let report = channel.statistics
        var pairs = [
            ("device", "\(channel.deviceName) (\(channel.device))"),
            ("tracks", Format.tracks(channel.tracks)),
        ]
        // Every camera has `high`, and most have sound.
        if let definition = channel.definition, let all = channel.definitions,
            all != ["high", "audio"], all != ["high"]
        {
            pairs.append(("definition", "\(definition), of \(all.joined(separator: ", "))"))
        }
        if let report {
            pairs.append(("first frame", Format.seconds(report.firstFrameTime)))
            pairs.append(("live edge", Format.seconds(report.liveEdgeTime)))
            pairs.append(("bitrate", Format.bitrate(report.bitrate)))
            pairs.append(
                ("buffer", "tolerance \(Format.seconds(report.tolerance)), delay \(Format.seconds(report.delay))"))
            if let skew = report.audioVideoSkew { pairs.append(("A/V skew", Self.skew(skew))) }
            // A playback above the speed 2 has key frames only, which count as discontinuities; the speed is not known here.
            if channel.kind != ChannelKind.playback.name, let count = report.discontinuities, count > 0 {
                pairs.append(("discontinuities", "\(count): the source's clock jumped, or its picture size changed"))
            }
            if let video = report.video {
                pairs.append(("video packets", Self.packets(video)))
                pairs.append(("video frames", Self.frames(video)))
                if let count = video.freezeCount, count > 0 {
                    pairs.append(("freezes", "\(count), \(Format.seconds(video.totalFreezesDuration)) in all"))
                }
            }
            if let audio = report.audio {
                pairs.append(("audio packets", Self.packets(audio)))
                if let samples = audio.concealedSamples, samples > 0 {
                    pairs.append(("concealed", "\(samples) of \(audio.totalSamplesReceived ?? 0) samples"))
                }
            }
        }
        for file in files {
            let pts = file.pts.map { ", pts \($0) µs" } ?? ""
            let dropped = file.framesDropped.map { ", \($0) frames dropped: it was written too slowly" } ?? ""
            pairs.append(
                (
                    MonitorSink.Kind(rawValue: file.kind)?.words ?? file.kind,
                    "\(file.path == "-" ? "standard output" : file.path), \(Format.size(file.bytes))\(pts)\(dropped)"
                ))
        }
        for report in unreadable ?? [] {
            let times = "\(Format.time(report.start)) to \(Format.time(report.end))"
            pairs.append(
                ("not played", "in recording \(report.recording ?? "-"), \(times): \(report.error?.message ?? "")"))
        }
        return Table.pairs(pairs)
    }

    private static func skew(_ seconds: Double) -> String {
        let text = Format.seconds(abs(seconds))
        return text == Format.seconds(0) ? text : "\(text), the picture \(seconds > 0 ? "behind" : "before") the sound"
    }

    private static func packets(_ track: TrackStatistics) -> String {
        "\(Format.count(track.packetsReceived)) received, \(Format.count(track.packetsLost)) lost, "
            + "\(Format.count(track.retransmittedPacketsReceived)) retransmitted, jitter \(Format.seconds(track.jitter))"
    }

    private static func frames(_ track: TrackStatistics) -> String {
        var text = "\(Format.count(track.framesDecoded)) decoded, \(Format.count(track.framesShown)) shown"
        let reasons = (track.framesDroppedByReason ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !reasons.isEmpty {
            text += ", dropped " + reasons.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        return text
    }
}
