import Foundation
import Gateway
import GatewayAPI
import Hummingbird
import IoTCore
import IoTLink
import NIOCore

/// A routed request with strictly parsed path parameters and query.
struct APIRequest {
    /// The maximum size of a body, in bytes.
    static let maximumBodySize = 256 * 1024

    let request: Request
    /// The lease that a streaming body holds; `nil` for open routes.
    let lease: Lease?
    private let parameters: [String: String]
    private let query: [String: [String]]

    /// The maximum sizes of a path parameter and a query item after decoding, in bytes.
    static let maximumParameterSize = 256
    static let maximumQuerySize = 8192

    /// - Throws: `.invalidRequest` for a query item that the route does not know, or that is repeated.
    init(_ request: Request, _ context: APIContext, _ route: APIRoute, _ lease: Lease?) throws(IoTError) {
        self.request = request
        self.lease = lease
        var parameters: [String: String] = [:]
        for (name, value) in context.parameters {
            guard let text = String(value).removingPercentEncoding else {
                throw IoTError(.invalidRequest, "the path's percent-encoding is malformed")
            }
            try Self.check(text, atMost: Self.maximumParameterSize, "a part of the path")
            parameters[String(name)] = text
        }
        self.parameters = parameters
        var query: [String: [String]] = [:]
        for (name, value) in request.uri.queryParameters {
            let name = String(name)
            guard route.knows(query: name) else {
                let known = route.query.isEmpty ? "none" : route.query.sorted().joined(separator: ", ")
                throw IoTError(.invalidRequest, "the query item '\(name)' is unknown here; known: \(known)")
            }
            guard query[name] == nil || route.repeatable.contains(name) else {
                throw IoTError(.invalidRequest, "the query item '\(name)' is given twice")
            }
            let text = String(value)
            try Self.check(text, atMost: Self.maximumQuerySize, "'\(name)'")
            query[name, default: []].append(text)
        }
        self.query = query
    }

    private static func check(_ text: String, atMost size: Int, _ name: String) throws(IoTError) {
        guard text.utf8.count <= size else { throw IoTError(.invalidRequest, "\(name) may have at most \(size) bytes") }
        guard StreamSafeText.isSafe(text) else { throw StreamSafeText.refusal(name) }
    }

    /// A path parameter. The router guarantees that it exists.
    func parameter(_ name: String) -> String {
        parameters[name] ?? ""
    }

    func query(_ name: String) -> String? {
        query[name]?.first
    }

    /// The media key in the URL, if the caller used it.
    var shownKey: String? {
        guard let key = query(APIRoute.key), key == lease?.caller.bearer?.token.text else { return nil }
        return key
    }

    /// All values of a repeatable item, which may also be separated by commas; `nil` if the item is missing.
    ///
    /// - Throws: `.invalidRequest` for an empty value, or for more than `limit` values.
    func list(_ name: String, atMost limit: Int) throws(IoTError) -> [String]? {
        guard let values = query[name] else { return nil }
        let list = values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        guard !list.contains("") else { throw IoTError(.invalidRequest, "'\(name)' has an empty value") }
        guard list.count <= limit else { throw IoTError(.invalidRequest, "'\(name)' has more than \(limit) values") }
        return list
    }

    /// A path parameter that names an account.
    func account(_ name: String) throws(IoTError) -> AccessID {
        try Self.account(parameter(name), name)
    }

    static func account(_ text: String, _ name: String) throws(IoTError) -> AccessID {
        guard let id = AccessID(rawValue: text) else {
            throw IoTError(.invalidRequest, "'\(name)' must be an access id: 1 to 64 of a–z 0–9 _ -")
        }
        return id
    }

    func integerQuery(_ name: String, in range: ClosedRange<Int64>) throws(IoTError) -> Int64? {
        guard let text = query(name) else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw IoTError(
                .invalidRequest, "'\(name)' must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// The wanted size of pictures, from `size` and `scaling`; `nil` for their own.
    var pictureFit: PictureFit? {
        get throws(IoTError) {
            let word = query("scaling")
            let scaling = word.map(PictureScaling.init(rawValue:)) ?? .aspectFit
            guard let scaling else {
                let known = PictureScaling.allCases.map(\.rawValue).joined(separator: ", ")
                throw IoTError(.invalidRequest, "scaling '\(word ?? "")' is unknown; known: \(known)")
            }
            guard let text = query("size") else { return nil }
            guard let fit = PictureFit(text, scaling: scaling) else {
                throw IoTError(.invalidRequest, "'size' " + PictureFit.requirement)
            }
            return fit
        }
    }

    /// The requested part of a list.
    var page: PageRequest {
        get throws(IoTError) {
            let after = query("after")
            guard after.map({ (1...PageRequest.longestName).contains($0.unicodeScalars.count) }) ?? true else {
                throw IoTError(.invalidRequest, "'after' must be the 'next' of the previous page")
            }
            return PageRequest(limit: try integerQuery("limit", in: PageRequest.limits).map(Int.init), after: after)
        }
    }

    /// The client's idempotency key.
    var requestID: String? {
        get throws(IoTError) {
            guard let field = HTTPFieldName.idempotencyKey, let key = request.headers[field] else { return nil }
            guard IoTLink.RequestID.isValid(key) else {
                throw IoTError(.invalidRequest, "\(APIHeader.idempotencyKey) must be 1–64 of A–Z a–z 0–9 _ - .")
            }
            return key
        }
    }

    /// Runs `work`, and cancels it when the client disconnects. Read the body before, if you need it.
    func untilClosed<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        var request = request
        // Replaces the body that was read. Otherwise Hummingbird waits for the end of the body, which has already come,
        // and traps when the client disconnects (RequestBody+inboundClose.swift, `iterate`).
        request.body = RequestBody(buffer: ByteBuffer())
        return try await request.body.consumeWithCancellationOnInboundClose { _ in try await work() }
    }

    /// The body as a single JSON value.
    func jsonValue() async throws -> JSONValue {
        let bytes = try await body()
        guard !bytes.isEmpty else { throw IoTError(.valueInvalid, "the body must be one JSON value; it is empty") }
        do {
            return try Self.safe(try JSONValue(parsing: bytes))
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.valueInvalid, "the body is not one JSON value: \(error)")
        }
    }

    /// The body as an object with known members only.
    ///
    /// - Throws: `.invalidRequest` with the invalid member.
    func decode<Body: APIRequestBody>(_ type: Body.Type) async throws -> Body {
        let bytes = try await body()
        guard !bytes.isEmpty else { throw IoTError(.invalidRequest, "the body must be a JSON object; it is empty") }
        let json: JSONValue
        do {
            json = try Self.safe(try JSONValue(parsing: bytes))
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.invalidRequest, "the body is not JSON: \(error)")
        }
        guard let members = json.objectValue else {
            throw IoTError(.invalidRequest, "the body must be a JSON object")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard Body.members.contains(name) else {
                throw IoTError(
                    .invalidRequest,
                    "the member '\(name.prefix(64))' is unknown; known: \(Body.members.joined(separator: ", "))")
            }
            guard value != .null || Body.nullable.contains(name) else {
                throw IoTError(.invalidRequest, "\(name) may not be null; leave it out")
            }
        }
        return try APICoding.decode(type, from: bytes)
    }

    private static func safe(_ value: JSONValue) throws(IoTError) -> JSONValue {
        guard StreamSafeText.isSafe(value) else { throw StreamSafeText.refusal("the body") }
        return value
    }

    /// The body as text of this media type, which Content-Type must name.
    ///
    /// - Throws: `.invalidRequest` with status 415 for another type; 25013 if the body is too large.
    func text(_ type: String, atMost size: Int) async throws -> String {
        guard essence == type else {
            throw APIFailure(
                IoTError(.invalidRequest, "the body must be \(type), not \(essence?.prefix(64) ?? "of no type")"),
                status: .unsupportedMediaType)
        }
        let bytes: ByteBuffer
        do {
            bytes = try await request.body.collect(upTo: size)
        } catch is NIOTooManyBytesError {
            throw IoTError(.payloadTooLarge, "a body of type \(type) may have at most \(size / 1024) KiB")
        }
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            throw IoTError(.invalidRequest, "the body is not UTF-8")
        }
        return text
    }

    /// The body as bytes.
    ///
    /// - Throws: `.invalidRequest` with status 415 for another type; 25013 if the body is too large.
    func octets() async throws -> [UInt8] {
        guard essence == "application/octet-stream" else {
            throw APIFailure(
                IoTError(
                    .invalidRequest,
                    "the body must be application/octet-stream, not \(essence?.prefix(64) ?? "of no type")"),
                status: .unsupportedMediaType)
        }
        return Array(buffer: try await request.body.collect(upTo: Self.maximumBodySize))
    }

    /// The body's media type without its parameters.
    private var essence: String? {
        request.headers[.contentType].map { type in
            let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > UInt8(ascii: " ") }
            return ASCII.lowercased(String(decoding: essence, as: UTF8.self)) ?? "a type that is not ASCII"
        }
    }

    private func body() async throws -> [UInt8] {
        // Pages of other sites can send other types without a CORS preflight (Fetch §2.2.2), so those never count as
        // JSON.
        if let essence, essence != "application/json" {
            throw APIFailure(
                IoTError(.invalidRequest, "the body must be application/json, not \(essence.prefix(64))"),
                status: .unsupportedMediaType)
        }
        return Array(buffer: try await request.body.collect(upTo: Self.maximumBodySize))
    }
}
