import IoTCore
import NIOCore

/// How many responses a request over a call's data channel expects.
public enum DataResponses: UInt8, Sendable, Hashable {
    case one = 1
    case many = 2
}

/// One message of a call's data channel `iotlink.data` (docs/channels.md, "Data"): a kind, its fields, and the user's
/// bytes. Numbers are big-endian.
enum DataFrame: Sendable, Hashable {
    /// Needs no response.
    case message(ByteBuffer)
    /// The caller's. `number` is its own choice, and names the request in all that follows.
    case request(number: UInt32, responses: DataResponses, ByteBuffer)
    /// The device's.
    case response(number: UInt32, isLast: Bool, ByteBuffer)
    /// The device has no more responses.
    case end(number: UInt32)
    /// The device cannot answer; the last frame of the request.
    case failure(number: UInt32, code: ErrorCode, String)
    /// The caller wants no more responses.
    case finish(number: UInt32)
    /// The receiver has processed this much of the window, and the sender may send as much again.
    case credit(UInt32)
    /// Whether anybody takes what the other side sends.
    case listening(Bool)

    private static let kinds = (
        message: UInt8(0), request: UInt8(1), response: UInt8(2), end: UInt8(3), failure: UInt8(4), finish: UInt8(5),
        credit: UInt8(6), listening: UInt8(7)
    )

    /// The most bytes of a user's data in one frame.
    static let maximumData = 64_000
    /// What a frame with data takes of the receiver's window, besides its data.
    static let overhead = 128
    private static let maximumText = 1_024

    /// What the frame takes of the receiver's window: only frames with data, so that frames without are never held up.
    var cost: Int {
        switch self {
        case .message(let data), .request(_, _, let data), .response(_, _, let data):
            data.readableBytes + Self.overhead
        case .end, .failure, .finish, .credit, .listening: 0
        }
    }

    /// - Returns: `nil` for a kind that this version does not know, which has no effect.
    /// - Throws: `dataTooLong` for more than 64,000 bytes of data, `invalidRequest` for a malformed frame.
    init?(parsing bytes: ByteBuffer) throws(IoTError) {
        var rest = bytes
        guard let kind = rest.readInteger(as: UInt8.self) else { throw Self.malformed }
        switch kind {
        case Self.kinds.message: self = .message(try Self.data(rest))
        case Self.kinds.request:
            guard let (number, word) = rest.readMultipleIntegers(as: (UInt32, UInt8).self),
                let responses = DataResponses(rawValue: word)
            else { throw Self.malformed }
            self = .request(number: number, responses: responses, try Self.data(rest))
        case Self.kinds.response:
            guard let (number, isLast) = rest.readMultipleIntegers(as: (UInt32, UInt8).self), isLast <= 1 else {
                throw Self.malformed
            }
            self = .response(number: number, isLast: isLast == 1, try Self.data(rest))
        case Self.kinds.end: self = .end(number: try Self.number(&rest))
        case Self.kinds.failure:
            guard let (number, code) = rest.readMultipleIntegers(as: (UInt32, UInt32).self),
                rest.readableBytes <= Self.maximumText
            else { throw Self.malformed }
            // Invalid UTF-8 becomes U+FFFD.
            self = .failure(number: number, code: ErrorCode(rawValue: Int(code)), String(buffer: rest))
        case Self.kinds.finish: self = .finish(number: try Self.number(&rest))
        case Self.kinds.credit: self = .credit(try Self.number(&rest))
        case Self.kinds.listening:
            guard let word = rest.readInteger(as: UInt8.self), word <= 1 else { throw Self.malformed }
            self = .listening(word == 1)
        default: return nil
        }
    }

    private static func data(_ rest: ByteBuffer) throws(IoTError) -> ByteBuffer {
        guard rest.readableBytes <= maximumData else { throw tooLong(rest.readableBytes) }
        return rest.slice()
    }

    private static func number(_ rest: inout ByteBuffer) throws(IoTError) -> UInt32 {
        guard let number = rest.readInteger(as: UInt32.self) else { throw malformed }
        return number
    }

    private static var malformed: IoTError { IoTError(.invalidRequest, "a malformed message of a data channel") }

    static func tooLong(_ count: Int) -> IoTError {
        IoTError(.dataTooLong, "data of a channel have at most \(maximumData) bytes, not \(count)")
    }

    var bytes: ByteBuffer {
        var buffer = ByteBuffer()
        switch self {
        case .message(let data):
            buffer.writeInteger(Self.kinds.message)
            buffer.writeImmutableBuffer(data)
        case .request(let number, let responses, let data):
            buffer.writeMultipleIntegers(Self.kinds.request, number, responses.rawValue)
            buffer.writeImmutableBuffer(data)
        case .response(let number, let isLast, let data):
            buffer.writeMultipleIntegers(Self.kinds.response, number, UInt8(isLast ? 1 : 0))
            buffer.writeImmutableBuffer(data)
        case .end(let number): buffer.writeMultipleIntegers(Self.kinds.end, number)
        case .failure(let number, let code, let text):
            buffer.writeMultipleIntegers(Self.kinds.failure, number, UInt32(clamping: code.rawValue))
            buffer.writeBytes(text.utf8.prefix(Self.maximumText))
        case .finish(let number): buffer.writeMultipleIntegers(Self.kinds.finish, number)
        case .credit(let bytes): buffer.writeMultipleIntegers(Self.kinds.credit, bytes)
        case .listening(let isListening):
            buffer.writeMultipleIntegers(Self.kinds.listening, UInt8(isListening ? 1 : 0))
        }
        return buffer
    }
}
