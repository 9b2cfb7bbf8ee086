/// The reason why bytes are not RTSP. Nothing after them can be read, so the connection must be closed.
package enum RTSPParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case lineTooLong(Int)
    case tooManyFields(Int)
    case headTooLarge(Int)
    case bodyTooLarge(Int)
    /// A line ends with LF alone, or contains CR alone. Two parsers could find different line ends (RFC 9112 §2.2).
    case bareLineFeed
    case controlCharacter
    case malformedRequestLine
    case malformedStatusLine
    case unknownVersion
    case malformedField
    case repeatedField(String)
    case malformedContentLength

    package var description: String {
        switch self {
        case .lineTooLong(let limit): "a line is longer than \(limit) bytes"
        case .tooManyFields(let limit): "a message has more than \(limit) header fields"
        case .headTooLarge(let limit): "the header fields have more than \(limit) bytes"
        case .bodyTooLarge(let limit): "a body is larger than \(limit) bytes"
        case .bareLineFeed: "a line does not end with CR LF"
        case .controlCharacter: "a line contains control characters"
        case .malformedRequestLine: "the request line is malformed"
        case .malformedStatusLine: "the status line is malformed"
        case .unknownVersion: "the protocol is not RTSP/1.0"
        case .malformedField: "a header field is malformed"
        case .repeatedField(let name): "the header field \(name) occurs twice with different values"
        case .malformedContentLength: "Content-Length is not a number of bytes"
        }
    }

    /// The status with which a server answers before it closes the connection.
    package var status: RTSPStatus {
        switch self {
        case .bodyTooLarge: .bodyTooLarge
        case .lineTooLong: .uriTooLong
        case .unknownVersion: .versionNotSupported
        default: .badRequest
        }
    }
}
