package import IoTCore

/// The part of a request's URL that names a camera's stream, or one of its tracks.
///
/// `rtsp://HOST/NAME`, `rtsp://HOST/NAME/mid`, `rtsp://HOST/NAME/low`, and each with `/trackID=0` after it.
package struct StreamPath: Sendable, Hashable {
    /// The name or id of a device, percent-decoded.
    package var name: String
    package var definition = Definition.high
    /// The index of a track; `nil` for the whole stream.
    package var track: Int?

    /// The largest name, in bytes.
    private static let maximumNameSize = 256

    package init(name: String, definition: Definition = .high, track: Int? = nil) {
        self.name = name
        self.definition = definition
        self.track = track
    }

    /// Reads the URL of a request line. A query is ignored. `nil` if it names no stream.
    package init?(_ uri: String) {
        guard let url = ServiceURL(uri, maximumSize: 4_096, checksName: false), url.scheme.hasPrefix("rtsp") else {
            return nil
        }
        let path = url.path.utf8.prefix { $0 != UInt8(ascii: "?") }
        var parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        if let last = parts.last, last.starts(with: Self.trackPrefix.utf8) {
            let digits = String(decoding: last.dropFirst(Self.trackPrefix.utf8.count), as: UTF8.self)
            guard let index = UInt8(digits), parts.count > 1 else { return nil }
            track = Int(index)
            parts.removeLast()
        }
        if parts.count == 2, let definition = Definition(rawValue: String(decoding: parts[1], as: UTF8.self)),
            Self.named.contains(definition)
        {
            self.definition = definition
            parts.removeLast()
        }
        guard parts.count == 1, let name = Self.decoded(parts[0]), name.isStreamSafe,
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), (1...Self.maximumNameSize).contains(name.utf8.count)
        else { return nil }
        self.name = name
    }

    private static let trackPrefix = "trackID="
    /// The definitions that a path names. A player chooses the sound by its SETUP requests.
    private static let named: [Definition] = [.mid, .low]

    /// The value of `a=control`.
    package static func control(ofTrack index: Int) -> String { trackPrefix + "\(index)" }

    func isSameStream(as other: StreamPath) -> Bool { name == other.name && definition == other.definition }

    /// RFC 3986 §2.1.
    private static func decoded(_ bytes: [UInt8]) -> String? {
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "%") else {
                decoded.append(bytes[index])
                index += 1
                continue
            }
            guard index + 2 < bytes.count,
                let byte = Hex.decode(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self))?.first
            else { return nil }
            decoded.append(byte)
            index += 3
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
