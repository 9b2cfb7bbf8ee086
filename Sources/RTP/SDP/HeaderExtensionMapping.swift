package import IoTCore

/// One `a=extmap` line: the identifier of a header extension (RFC 8285 §5).
public struct HeaderExtensionMapping: Sendable, Hashable {
    /// The supported extensions.
    public enum Known: String, Sendable, CaseIterable {
        /// RFC 9143 §15.
        case mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
        case absoluteSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
        /// draft-holmer-rmcat-transport-wide-cc-extensions-01 §2.
        case transportSequenceNumber =
            "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
        case playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
        /// How far the receiver must turn the pictures: 3GPP TS 26.114 §7.4.5, "CVO".
        case videoOrientation = "urn:3gpp:video-orientation"
    }

    /// 1–255 except 15; values above 14 need the two-byte form.
    public var identifier: UInt8
    public var uri: String

    public init(identifier: UInt8, uri: String) {
        self.identifier = identifier
        self.uri = uri
    }

    package init(_ identifier: UInt8, _ known: Known) {
        self.init(identifier: identifier, uri: known.rawValue)
    }

    package var known: Known? { Known(rawValue: uri) }

    /// The extensions in our offers. All sections use the same identifiers (RFC 9143 §9.1).
    package static func offered(for kind: MediaKind) -> [HeaderExtensionMapping] {
        var all = [
            HeaderExtensionMapping(1, .mid), HeaderExtensionMapping(2, .absoluteSendTime),
            HeaderExtensionMapping(3, .transportSequenceNumber),
        ]
        if kind == .video {
            all += [HeaderExtensionMapping(4, .playoutDelay), HeaderExtensionMapping(5, .videoOrientation)]
        }
        return all
    }

    /// Parses `3 URI` or `3/sendonly URI attributes`. `nil` if the extension is inactive, or the identifier is not
    /// valid in packets.
    package init?(parsing text: Substring) {
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[1].utf8.count <= 256 else { return nil }
        let number = words[0].split(separator: "/", maxSplits: 1)
        guard let first = number.first, let identifier = UInt8(first), identifier > 0, identifier != 15,
            number.count < 2 || number[1] != "inactive"
        else { return nil }
        self.init(identifier: identifier, uri: String(words[1]))
    }
}

/// The identifiers of the extensions that both peers named for a section; `nil` for unused ones.
@usableFromInline
package struct HeaderExtensionIdentifiers: Sendable, Hashable {
    @usableFromInline package var mid: UInt8?
    @usableFromInline package var absoluteSendTime: UInt8?
    @usableFromInline package var transportSequenceNumber: UInt8?
    @usableFromInline package var playoutDelay: UInt8?
    @usableFromInline package var videoOrientation: UInt8?

    package init() {}

    package init(_ mappings: [HeaderExtensionMapping]) {
        for mapping in mappings {
            switch mapping.known {
            case .mid: mid = mapping.identifier
            case .absoluteSendTime: absoluteSendTime = mapping.identifier
            case .transportSequenceNumber: transportSequenceNumber = mapping.identifier
            case .playoutDelay: playoutDelay = mapping.identifier
            case .videoOrientation: videoOrientation = mapping.identifier
            case nil: break
            }
        }
    }
}
