import IoTCore
import Logging
import NIOCore

// The stages of the play: one line in the log for each, and the channel's description.
extension PlayerCore {
    /// Notes that the player has reached a stage. The first time is recorded and logged at `info`; each further frame
    /// is logged at `debug`, where the log folds the lines.
    func note(
        _ stage: PlayStage, _ track: MediaKind? = nil, detail: String? = nil, at time: NIODeadline,
        _ facts: @autoclosure () -> [String: JSONValue] = [:]
    ) {
        let isFirst = !stages.has(stage, track, detail: detail)
        guard isFirst || logger.logLevel <= .debug else { return }
        let entry = stages.note(stage, track, detail: detail, at: time, facts())
        logger.log(level: isFirst ? .info : .debug, "play stage", metadata: Self.metadata(entry))
        if isFirst, stage != .released { onEvent(.stageReached(entry)) }
    }

    static func metadata(_ entry: StageEntry) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "play.stage": "\(entry.stage.rawValue) \(entry.stage.name)",
            "play.time_ms": "\(entry.time.nanoseconds / 1_000_000)",
        ]
        if let track = entry.track { metadata["play.track"] = "\(track.rawValue)" }
        for (name, value) in entry.facts { metadata["play.\(name)"] = "\(value.stringValue ?? value.jsonText)" }
        return metadata
    }

    /// Notes what the source reports about its connection.
    func noteOpened(at now: NIODeadline) {
        var connected: [String: JSONValue] = [:]
        if let route = source.route {
            connected["route"] = .string(route.name)
            connected["local"] = .string(route.local)
            connected["remote"] = .string(route.remote)
        }
        if let time = source.roundTripTime { connected["roundTrip_us"] = .integer(time.nanoseconds / 1_000) }
        note(.connected, at: now, connected)
        note(.header, at: now, StageFacts.header(tracks))
        if let video = tracks.video {
            note(.decoders, .video, at: now, StageFacts.decoder(video, isGiven: parts.pictureDecoder != nil))
        }
        if let audio = tracks.audio {
            note(.decoders, .audio, at: now, StageFacts.decoder(audio, isGiven: parts.soundDecoder != nil))
        }
    }

    func noteReceived(_ received: SourceFrame) {
        let frame = received.frame
        meters.received(frame, senderTime: playout?.senderTime(frame.kind, pts: frame.pts), at: received.arrival)
        note(.received, frame.kind, at: received.arrival, StageFacts.frame(frame))
        guard let distance = meters.takeWarning(at: received.arrival) else { return }
        let seconds = (abs(distance) * 10).rounded() / 10
        logger.warning("sound and picture are apart", metadata: ["play.distance_s": "\(seconds)"])
        onEvent(
            .warning(
                IoTError(.mediaHeaderInvalid, "the camera's sound and picture are \(seconds) seconds apart"), use: nil))
    }

    func noteShown(_ kind: MediaKind, pts: Int64, at time: NIODeadline) {
        meters.shown(kind, pts: pts, at: time)
        note(.shown, kind, at: time, StageFacts.shown(pts: pts, previous: lastShown[kind]))
        lastShown[kind] = pts
    }

    /// The stages reached so far; each once for each track.
    package var stageEntries: [StageEntry] { stages.entries }
}
