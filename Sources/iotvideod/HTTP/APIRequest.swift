import Foundation
import GatewayAPI
import Hummingbird
import IoTCore

/// A request behind the router: its path's parameters and query, read strictly.
struct APIRequest {
    /// The greatest body that is read, in bytes.
    static let maximumBodySize = 256 * 1024

    let request: Request
    private let parameters: [String: String]
    private let query: [String: String]

    /// - Throws: `.invalidRequest` for a query item that the route does not know or that comes twice.
    init(_ request: Request, _ context: BasicRequestContext, knownQuery: Set<String>) throws(IoTError) {
        self.request = request
        var parameters: [String: String] = [:]
        for (name, value) in context.parameters {
            guard let text = String(value).removingPercentEncoding else {
                throw IoTError(.invalidRequest, "the path's percent-encoding is damaged")
            }
            parameters[String(name)] = text
        }
        self.parameters = parameters
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            let name = String(name)
            guard knownQuery.contains(name) else {
                let known = knownQuery.isEmpty ? "none" : knownQuery.sorted().joined(separator: ", ")
                throw IoTError(.invalidRequest, "the query item '\(name)' is unknown here; known: \(known)")
            }
            guard query.updateValue(String(value), forKey: name) == nil else {
                throw IoTError(.invalidRequest, "the query item '\(name)' comes twice")
            }
        }
        self.query = query
    }

    /// A part of the path; the router vouches for its being there.
    func parameter(_ name: String) -> String {
        parameters[name] ?? ""
    }

    func query(_ name: String) -> String? {
        query[name]
    }

    func integerQuery(_ name: String, in range: ClosedRange<Int64>) throws(IoTError) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw IoTError(
                .invalidRequest, "'\(name)' must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// The client's idempotency key.
    var requestID: String? {
        get throws(IoTError) {
            guard let field = HTTPFieldName.idempotencyKey, let key = request.headers[field] else { return nil }
            let isAllowed = key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            }
            guard (1...64).contains(key.utf8.count), isAllowed else {
                throw IoTError(.invalidRequest, "\(APIHeader.idempotencyKey) must be 1–64 of A–Z a–z 0–9 _ - . :")
            }
            return key
        }
    }

    /// The body as one bare JSON value.
    func jsonValue() async throws -> JSONValue {
        let bytes = try await body()
        guard !bytes.isEmpty else { throw IoTError(.valueInvalid, "the body must be one JSON value; it is empty") }
        do {
            return try JSONValue(parsing: bytes)
        } catch {
            throw IoTError(.valueInvalid, "the body is not one JSON value: \(error)")
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        try APICoding.decode(type, from: try await body())
    }

    private func body() async throws -> [UInt8] {
        Array(buffer: try await request.body.collect(upTo: Self.maximumBodySize))
    }
}
