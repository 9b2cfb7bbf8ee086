package import IoTCore

/// An `m=` line (RFC 8866 §5.14) and the `a=rtpmap` and `a=fmtp` of its formats.
package struct MediaDescription: Sendable {
    package let medium: Substring
    package let port: UInt16
    package let transport: Substring
    package let formats: [Substring]

    private var maps: [UInt8: String] = [:]
    private var parameters: [UInt8: String] = [:]

    package static let maximumFormats = 64

    package init(medium: Substring, port: UInt16, transport: Substring, formats: [Substring]) {
        self.medium = medium
        self.port = port
        self.transport = transport
        self.formats = formats
    }

    /// `audio 9 UDP/TLS/RTP/SAVPF 111 0`
    package init(line: Substring) throws(IoTError) {
        let words = line.split(separator: " ")
        // The port may be followed by a number of ports, which is ignored.
        guard words.count >= 4, let port = words[1].split(separator: "/").first.flatMap({ UInt16($0) }) else {
            throw SessionDescriptionLines.invalid("an m= line is malformed")
        }
        self.init(
            medium: words[0], port: port, transport: words[2],
            formats: Array(words.dropFirst(3).prefix(Self.maximumFormats)))
    }

    /// Stores the argument of `a=rtpmap`.
    package mutating func take(map argument: Substring) { Self.set(&maps, argument) }

    /// Stores the argument of `a=fmtp`.
    package mutating func take(parameters argument: Substring) { Self.set(&parameters, argument) }

    /// The stored argument of `a=rtpmap`, without the payload type.
    package func map(of type: UInt8) -> String? { maps[type] }

    /// The stored argument of `a=fmtp`, without the payload type.
    package func parameters(of type: UInt8) -> String? { parameters[type] }

    /// The codecs that can be parsed, in the order of the `m=` line.
    package var codecs: [RTPCodec] {
        var types: Set<UInt8> = []
        return formats.compactMap { format in
            guard let type = UInt8(format), type < 128, types.insert(type).inserted else { return nil }
            return RTPCodec(payloadType: type, rtpmap: maps[type], fmtp: parameters[type])
        }
    }

    /// Parses a line such as `96 H264/90000`. The first line of a repeated type wins.
    private static func set(_ table: inout [UInt8: String], _ argument: Substring) {
        let words = argument.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let type = UInt8(words[0]), type < 128, table[type] == nil else { return }
        table[type] = String(words[1])
    }
}
