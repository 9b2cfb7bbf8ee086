import Foundation
public import IoTCore

/// Encodes and decodes the API's types as JSON, in the same way for the daemon and its clients.
public enum APICoding {
    /// Compact JSON with sorted names.
    public static func encode(_ value: some Encodable) throws(IoTError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // JSON has no infinities. An infinite statistic is a defect, but must not make the whole response fail.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw IoTError(.internalFailure, "a response could not be written as JSON: \(error)", underlying: error)
        }
    }

    /// Decodes one JSON text. Unknown members are ignored.
    ///
    /// - Throws: `code` with the invalid member and the reason.
    public static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: some Sequence<UInt8>, failure code: ErrorCode = .invalidRequest
    ) throws(IoTError) -> Value {
        do {
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return try decoder.decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw IoTError(code, describe(error), underlying: error)
        } catch {
            throw IoTError(code, "the body is not JSON: \(error)", underlying: error)
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "\(name(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context):
            "\(name(context.codingPath)) may not be null"
        case .typeMismatch(let type, let context):
            "\(name(context.codingPath)) must be \(name(of: type))"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "the body is not JSON" : "\(name(context.codingPath)): \(context.debugDescription)"
        @unknown default:
            "the body does not have the expected form"
        }
    }

    private static func name(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the body" : path.map(\.stringValue).joined(separator: ".")
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is any Collection.Type where type is any ExpressibleByDictionaryLiteral.Type: "an object"
        case is any Collection.Type: "an array"
        default: "an object"
        }
    }
}
