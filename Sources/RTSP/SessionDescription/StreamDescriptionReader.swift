import IoTCore
import RTP

/// Parses the lines of a camera's session description. Invalid lines are ignored, so that one invalid track does not
/// prevent the use of the others.
struct StreamDescriptionReader {
    private var session = StreamDescription(tracks: [])
    private var section: Section?
    /// Whether the limit is reached; attributes of further sections are ignored.
    private var isFull = false

    private struct Section {
        var media: MediaDescription
        var track: TrackDescription
        /// The argument of the first `a=rtpmap`.
        var firstMap: Substring?

        /// Stores an attribute. If it is repeated, the first one is used.
        mutating func take(_ name: String, _ argument: Substring) {
            switch name {
            case "rtpmap":
                media.take(map: argument)
                firstMap = firstMap ?? argument
            case "fmtp": media.take(parameters: argument)
            case "control": track.control = track.control ?? StreamDescriptionReader.text(argument)
            case "framerate":
                let rate = Double(argument).flatMap { (0.01...1_000).contains($0) ? $0 : nil }
                track.frameRate = track.frameRate ?? rate
            default:
                if let direction = TrackDescription.Direction(rawValue: name) { track.direction = direction }
            }
        }
    }

    var description: StreamDescription {
        var whole = session
        if let section { whole.tracks.append(Self.finish(section)) }
        return whole
    }

    mutating func take(_ type: Substring, _ value: Substring) {
        switch type {
        case "m": begin(value)
        case "s" where section == nil: session.name = String(HeaderParameters.trimmed(value))
        case "a": takeAttribute(value)
        default: break
        }
    }

    private mutating func begin(_ value: Substring) {
        if let section { session.tracks.append(Self.finish(section)) }
        section = nil
        isFull = session.tracks.count == StreamDescription.maximumTracks
        let words = value.split(separator: " ")
        // Quirk 6: FLIR and other cameras write no valid port (bluenviron/gortsplib, `pkg/sdpunmarshaler`). RTSP does
        // not use it.
        guard words.count >= 3, !isFull else { return }
        let transport = words[2].uppercased()
        section = Section(
            media: MediaDescription(
                medium: words[0], port: 0, transport: words[2],
                formats: Array(words.dropFirst(3).prefix(MediaDescription.maximumFormats))),
            track: TrackDescription(
                medium: words[0].lowercased(), codec: nil, control: nil,
                isPlainRTP: transport.utf8.starts(with: "RTP/AVP".utf8) || transport == "TCP/RTP/AVP"
                    || transport == "RTP"))
    }

    private mutating func takeAttribute(_ value: Substring) {
        guard !isFull else { return }
        let parts = value.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let name = HeaderParameters.trimmed(Substring(parts[0])).lowercased()
        let argument = parts.count > 1 ? HeaderParameters.trimmed(Substring(parts[1])) : ""
        if section?.take(name, argument) != nil { return }
        switch name {
        case "control": session.control = session.control ?? Self.text(argument)
        case "range": session.range = session.range ?? RangeHeader(parsing: String(argument))
        case "tool": session.tool = session.tool ?? Self.text(argument)
        default: break
        }
    }

    private static func text(_ argument: Substring) -> String? { argument.isEmpty ? nil : String(argument) }

    private static func finish(_ section: Section) -> TrackDescription {
        var track = section.track
        let codecs = CameraCodec.codecs(of: section.media, medium: track.medium, firstMap: section.firstMap)
        track.codecs = codecs
        track.codec = codecs.first { $0.format != nil } ?? codecs.first
        return track
    }
}
