/// One stream of an `RTP-Info` header (RFC 2326 §12.33).
package struct RTPInfo: Sendable, Hashable {
    /// Absolute or relative; empty if it is absent.
    package var url: String
    /// The sequence number of the first packet.
    package var sequenceNumber: UInt16?
    /// The RTP time of the start of the range.
    package var timestamp: UInt32?

    package init(url: String, sequenceNumber: UInt16? = nil, timestamp: UInt32? = nil) {
        self.url = url
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
    }

    /// Parses a header value. Invalid numbers are `nil`, because some cameras write -1.
    package static func parse(_ text: String) -> [RTPInfo] {
        HeaderParameters.split(Substring(text), ",").reduce(into: []) { streams, part in
            // A URL may contain commas, so only a part with `url=` begins another stream.
            let isStart = part.utf8.prefix(4).elementsEqual("url=".utf8) || streams.isEmpty
            if isStart { streams.append(RTPInfo(url: "")) } else { streams[streams.count - 1].url += "," }
            for (number, piece) in HeaderParameters.split(part, ";").enumerated() {
                streams[streams.count - 1].take(piece, isRestOfURL: !isStart && number == 0)
            }
        }
    }

    private mutating func take(_ piece: Substring, isRestOfURL: Bool) {
        if isRestOfURL {
            url += piece
            return
        }
        let pair = piece.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2 else { return }
        let value = HeaderParameters.trimmed(Substring(pair[1]))
        switch Substring(pair[0]).lowercased() {
        case "url": url = String(value)
        case "seq": sequenceNumber = UInt16(value)
        case "rtptime": timestamp = UInt32(value)
        default: break
        }
    }

    package static func text(_ streams: [RTPInfo]) -> String {
        streams.map { stream in
            var text = "url=\(stream.url)"
            if let sequenceNumber = stream.sequenceNumber { text += ";seq=\(sequenceNumber)" }
            if let timestamp = stream.timestamp { text += ";rtptime=\(timestamp)" }
            return text
        }.joined(separator: ",")
    }
}
