import Foundation
public import IoTCore

/// The data of a pass-through message: any bytes, at most 30,000, in base64 (RFC 4648 §4, padded) on the wire.
public struct MessageData: Sendable, Hashable {
    /// The most bytes of one message, before base64.
    public static let maximumSize = 30_000

    public let bytes: [UInt8]

    /// Throws `messageTooLong` (21008).
    public init(_ bytes: [UInt8]) throws(IoTError) {
        guard bytes.count <= Self.maximumSize else { throw Self.tooLong(bytes.count) }
        self.bytes = bytes
    }

    /// Reads base64 from a link message. Throws `messageTooLong` (21008), and `invalidRequest` (25001) for invalid
    /// base64.
    public init(_ json: JSONValue?) throws(IoTError) {
        guard let text = json?.stringValue else { throw IoTError(.invalidRequest, "'data' must be a text in base64") }
        // Checked before it is decoded.
        guard text.utf8.count <= (Self.maximumSize + 2) / 3 * 4 else { throw Self.tooLong(text.utf8.count / 4 * 3) }
        guard let data = Data(base64Encoded: text) else {
            throw IoTError(.invalidRequest, "'data' is not base64 (RFC 4648, with padding)")
        }
        try self.init(Array(data))
    }

    public var json: JSONValue { .string(Data(bytes).base64EncodedString()) }

    private static func tooLong(_ count: Int) -> IoTError {
        IoTError(.messageTooLong, "a message is at most \(maximumSize) bytes before base64, this one has \(count)")
    }
}
