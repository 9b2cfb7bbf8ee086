import Foundation
public import IoTCore

/// The data of a pass-through message: any bytes, at most 30,000, in base64 (RFC 4648 §4, padded) on the wire.
public enum MessageData {
    /// The most bytes of one message, before base64.
    public static let maximumSize = 30_000

    /// The bytes as they stand in an envelope. Throws `messageTooLong` (21008).
    public static func encode(_ bytes: [UInt8]) throws(IoTError) -> JSONValue {
        guard bytes.count <= maximumSize else { throw tooLong(bytes.count) }
        return .string(Data(bytes).base64EncodedString())
    }

    /// Throws `messageTooLong` (21008), and `invalidRequest` (25001) for what is no base64.
    public static func decode(_ value: JSONValue?) throws(IoTError) -> [UInt8] {
        guard let text = value?.stringValue else { throw IoTError(.invalidRequest, "'data' must be a text in base64") }
        // Before anything is made of it.
        guard text.utf8.count <= (maximumSize + 2) / 3 * 4 else { throw tooLong(text.utf8.count / 4 * 3) }
        guard let data = Data(base64Encoded: text) else {
            throw IoTError(.invalidRequest, "'data' is no base64 (RFC 4648, with padding)")
        }
        guard data.count <= maximumSize else { throw tooLong(data.count) }
        return Array(data)
    }

    private static func tooLong(_ count: Int) -> IoTError {
        IoTError(.messageTooLong, "a message is at most \(maximumSize) bytes before base64, this one has \(count)")
    }
}
