package import IoTCore
import RTP

/// A camera's session description (RFC 2326 §C, RFC 8866).
package struct StreamDescription: Sendable, Hashable {
    /// The largest number of sections that are read.
    package static let maximumTracks = 16

    /// The text of `s=`.
    package var name: String
    /// The value of `a=control` for the whole stream; `nil` without it.
    package var control: String?
    package var range: RangeHeader?
    /// The software that wrote the description, from `a=tool`.
    package var tool: String?
    package var tracks: [TrackDescription]

    package init(
        name: String = "-", control: String? = nil, range: RangeHeader? = nil, tool: String? = nil,
        tracks: [TrackDescription]
    ) {
        self.name = name
        self.control = control
        self.range = range
        self.tool = tool
        self.tracks = tracks
    }

    /// - Throws: `sourceUnsupported` if it is not a session description or has no section.
    package init(parsing text: String) throws(IoTError) {
        var reader = StreamDescriptionReader()
        do throws(IoTError) {
            try SessionDescriptionLines.read(text, isLenient: true) { type, value in reader.take(type, value) }
        } catch {
            throw IoTError(.sourceUnsupported, "the camera's session description cannot be read: \(error.message)")
        }
        self = reader.description
        guard !tracks.isEmpty else {
            throw IoTError(.sourceUnsupported, "the camera's session description names no stream")
        }
    }

    /// The sections with sound that the camera receives. Only a response to a request with `Require` lists them.
    ///
    /// In ONVIF's descriptions the directions are the client's: the camera's own tracks are `recvonly`, and a back
    /// channel is `sendonly` (ONVIF Streaming §5.3.2).
    package var backChannels: [TrackDescription] {
        // Quirk 19: some cameras write their own directions, as in RFC 8866 §6.7 (AlexxIT/go2rtc#771, where everything
        // is `sendonly`). Their video is `sendonly`, so what they receive is `recvonly`.
        let isOwnDirection = tracks.contains { $0.kind == .video && $0.direction == .sendOnly }
        let direction = isOwnDirection ? TrackDescription.Direction.receiveOnly : .sendOnly
        return tracks.filter { $0.kind == .audio && $0.isPlainRTP && $0.direction == direction }
    }

    /// The text, with CR LF.
    ///
    /// - Parameter address: The server's address, for `o=`.
    package func text(address: IPAddress, sessionID: UInt64) -> String {
        let family = address.isIPv6 ? "IP6" : "IP4"
        var lines = [
            "v=0", "o=- \(sessionID) 1 IN \(family) \(address)", "s=\(name.isEmpty ? "-" : name)",
            // SETUP determines the addresses (RFC 2326 §C.1.7).
            "c=IN \(family) \(address.isIPv6 ? "::" : "0.0.0.0")", "t=0 0",
        ]
        if let tool { lines.append("a=tool:\(tool)") }
        if let range { lines.append("a=range:\(range.text)") }
        if let control { lines.append("a=control:\(control)") }
        for track in tracks { lines += track.lines }
        return lines.map { $0 + "\r\n" }.joined()
    }
}

extension TrackDescription {
    fileprivate var lines: [String] {
        // A track without a codec gets an arbitrary dynamic type.
        let type = codec.map { "\($0.payloadType)" } ?? "127"
        var lines = ["m=\(medium) 0 RTP/\(isPlainRTP ? "AVP" : "SAVP") \(type)"]
        if let codec {
            lines.append("a=rtpmap:\(type) \(codec.rtpmap)")
            if let parameters = codec.formatParametersText { lines.append("a=fmtp:\(type) \(parameters)") }
        }
        if let frameRate { lines.append("a=framerate:\(frameRate)") }
        if let direction { lines.append("a=\(direction.rawValue)") }
        if let control { lines.append("a=control:\(control)") }
        return lines
    }
}
