import GatewayAPI

/// The line that shows the status of a channel on a terminal.
struct MonitorProgress {
    static func line(_ contents: MonitorView.Contents, tracks: [TrackDescription]) -> String {
        var words = [contents.state?.player.name ?? "preparing"]
        if let time = contents.time { words.append(Format.time(time)) }
        if let video = contents.statistics?.video {
            if let width = video.frameWidth, let height = video.frameHeight { words.append("\(width)x\(height)") }
            words.append("\(video.framesShown ?? video.framesDecoded ?? 0) frames")
            if let rate = video.framesPerSecond { words.append("\(Format.number(rate)) fps") }
            if let lost = video.packetsLost, lost > 0 { words.append("\(lost) packets lost") }
            if let dropped = video.framesDropped, dropped > 0 { words.append("\(dropped) dropped") }
        } else {
            words.append(Format.tracks(tracks))
        }
        if let bitrate = contents.statistics?.bitrate { words.append(Format.bitrate(bitrate)) }
        if let warning = contents.warning { words.append("\(warning.code) \(warning.name)") }
        return words.joined(separator: "  ")
    }
}
