/// The header fields of a message, in their order (RFC 2326 §12). Names are compared without regard to case.
package struct RTSPHeaders: Sendable, Hashable {
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(_ fields: KeyValuePairs<String, String>) {
        for (name, value) in fields { add(name, value) }
    }

    /// The value of the first field with this name. Setting it replaces all fields with this name; `nil` removes them.
    package subscript(_ name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// The values of all fields with this name.
    package func all(_ name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    package mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8) { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// The names of header fields that are used here.
package enum RTSPHeaderName {
    package static let accept = "Accept"
    package static let allow = "Allow"
    package static let authorization = "Authorization"
    package static let contentBase = "Content-Base"
    package static let contentLength = "Content-Length"
    package static let contentLocation = "Content-Location"
    package static let contentType = "Content-Type"
    package static let cseq = "CSeq"
    package static let location = "Location"
    package static let isPublic = "Public"
    package static let range = "Range"
    package static let require = "Require"
    package static let rtpInfo = "RTP-Info"
    package static let scale = "Scale"
    package static let server = "Server"
    package static let session = "Session"
    package static let transport = "Transport"
    package static let unsupported = "Unsupported"
    package static let userAgent = "User-Agent"
    package static let authenticate = "WWW-Authenticate"

    /// Fields that may occur several times, because their values are lists (RFC 2326 §12, RFC 9110 §5.3). Other fields
    /// must not be repeated with different values, because two parsers could choose different ones.
    static let lists: Set<String> = [
        "accept", "allow", "public", "require", "proxy-require", "unsupported", "www-authenticate", "via",
        "cache-control", "connection",
    ]
}
