import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOCore
import NIOHTTP1

/// A client of the daemon's HTTP API, over its Unix socket or from another machine.
final class GatewayClient: Sendable {
    /// The largest response that is read as a whole, in bytes.
    private static let maximumAnswerSize = 16 << 20

    private let address: DaemonAddress
    private let client: HTTPClient

    /// - Throws: `.fileFailed` if the authority's file cannot be used.
    init(_ address: DaemonAddress) throws {
        self.address = address
        var configuration = HTTPClient.Configuration()
        if case .remote(let remote) = address, remote.isEncrypted {
            configuration.tlsConfiguration = try remote.trust.configuration()
        }
        configuration.redirectConfiguration = .disallow
        // A missing daemon is reported at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        // A monitor keeps the event stream and up to four bodies open while it sends requests.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func close() async {
        try? await client.shutdown()
    }

    // MARK: Whole responses

    func get<Value: Decodable>(
        _ type: Value.Type, _ path: APIPath, timeout: Duration = .seconds(30)
    ) async throws -> Value {
        try await call(.GET, path, body: nil, timeout: timeout)
    }

    /// - Parameter body: JSON text; `nil` sends none.
    func call<Value: Decodable>(
        _ method: HTTPMethod, _ path: APIPath, body: [UInt8]?, timeout: Duration = .seconds(30)
    ) async throws -> Value {
        let response = try await send(method, path, body: body, timeout: timeout)
        return try APICoding.decode(Value.self, from: try await collect(response), failure: .internalFailure)
    }

    /// Like `call(_:_:body:timeout:)`, but encodes the body.
    func call<Value: Decodable>(
        _ method: HTTPMethod, _ path: APIPath, _ body: some Encodable, timeout: Duration = .seconds(30)
    ) async throws -> Value {
        try await call(method, path, body: try APICoding.encode(body), timeout: timeout)
    }

    /// The headers and the whole body of a response.
    func bytes(_ path: APIPath, timeout: Duration? = .seconds(30)) async throws -> (HTTPHeaders, [UInt8]) {
        let response = try await send(.GET, path, body: nil, timeout: timeout)
        return (response.headers, try await collect(response))
    }

    /// Sends a body that is read while it is sent, and returns the response at its end.
    func upload<Value: Decodable, Chunks: AsyncSequence & Sendable>(
        _ type: Value.Type, _ path: APIPath, _ chunks: Chunks
    ) async throws -> Value where Chunks.Element == ByteBuffer {
        let response = try await send(
            .POST, path, content: .stream(chunks, length: .unknown),
            headers: ["Content-Type": "application/octet-stream"],
            timeout: nil)
        return try APICoding.decode(type, from: try await collect(response), failure: .internalFailure)
    }

    /// Sends a part of a file (RFC 9110 §14.5).
    ///
    /// - Parameter range: of `Content-Range`.
    func put<Value: Decodable>(_ type: Value.Type, _ path: APIPath, _ bytes: [UInt8], range: String) async throws
        -> Value
    {
        let response = try await send(
            .PUT, path, content: .bytes(bytes),
            headers: ["Content-Type": "application/octet-stream", "Content-Range": range], timeout: .seconds(60))
        return try APICoding.decode(type, from: try await collect(response), failure: .internalFailure)
    }

    // MARK: Streams

    /// Opens a body that is read while the daemon produces it. Returns when the daemon has accepted the request.
    func open(_ path: APIPath, resumingBehind id: String? = nil) async throws -> HTTPClientResponse.Body {
        let headers: HTTPHeaders = id.map { ["Last-Event-ID": $0] } ?? [:]
        return try await send(.GET, path, body: nil, headers: headers, timeout: .seconds(30)).body
    }

    /// The headers of a response to HEAD.
    func head(_ path: APIPath) async throws -> HTTPHeaders {
        do {
            return try await send(.HEAD, path, body: nil, timeout: .seconds(30)).headers
        } catch let error as IoTError where error.code == .daemonUnreachable {
            // A refusal of HEAD has no body that says why (RFC 9110 §9.3.2); that of GET has.
            _ = try await send(.GET, path, body: nil, headers: ["Range": "bytes=0-0"], timeout: .seconds(30))
            throw error
        }
    }

    /// Opens a file from a place on (RFC 9110 §14).
    ///
    /// - Parameter tag: the file's entity tag, without which it is opened from its beginning.
    /// - Returns: whether the body begins at `offset`; otherwise it is the whole file.
    func part(
        _ path: APIPath, from offset: Int64, tag: String?
    ) async throws -> (body: HTTPClientResponse.Body, isPart: Bool) {
        let headers: HTTPHeaders = tag.map { ["Range": "bytes=\(offset)-", "If-Range": $0] } ?? [:]
        let response = try await send(.GET, path, body: nil, headers: headers, timeout: .seconds(30))
        return (response.body, response.status == .partialContent)
    }

    /// Calls `receive` for every part of a body.
    ///
    /// - Throws: `.daemonUnreachable` if the body breaks off.
    func forEachChunk(
        _ body: HTTPClientResponse.Body, _ receive: ([UInt8]) async throws -> Void
    ) async throws {
        var failure: (any Error)?
        do {
            for try await buffer in body {
                do {
                    try await receive(Array(buffer.readableBytesView))
                } catch {
                    failure = error
                    break
                }
            }
        } catch {
            throw lost(error)
        }
        if let failure { throw failure }
    }

    /// Opens the stream of events that a request returns.
    func events(_ path: APIPath, _ body: some Encodable, timeout: Duration) async throws -> HTTPClientResponse.Body {
        try await send(
            .POST, path, body: try APICoding.encode(body), headers: ["Accept": "text/event-stream"], timeout: timeout
        ).body
    }

    /// Calls `receive` for every event until it returns false or the stream ends.
    func forEachEvent(
        _ body: HTTPClientResponse.Body, _ receive: (ServerSentEvent) throws -> Bool
    ) async throws {
        var parser = ServerSentEventParser()
        var failure: (any Error)?
        do {
            reading: for try await buffer in body {
                for event in parser.receive(buffer.readableBytesView) {
                    do {
                        guard try receive(event) else { return }
                    } catch {
                        failure = error
                        break reading
                    }
                }
            }
        } catch {
            throw lost(error)
        }
        if let failure { throw failure }
    }

    // MARK: Requests

    private func send(
        _ method: HTTPMethod, _ path: APIPath, body: [UInt8]?, headers: HTTPHeaders = [:], timeout: Duration?
    ) async throws -> HTTPClientResponse {
        var headers = headers
        if body != nil { headers.add(name: "Content-Type", value: "application/json") }
        return try await send(method, path, content: body.map { .bytes($0) }, headers: headers, timeout: timeout)
    }

    private func send(
        _ method: HTTPMethod, _ path: APIPath, content: HTTPClientRequest.Body?, headers: HTTPHeaders,
        timeout: Duration?
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url(path))
        request.method = method
        request.headers = headers
        if case .remote(let remote) = address {
            request.headers.add(name: "Authorization", value: "Bearer \(remote.token)")
        }
        request.body = content
        let response: HTTPClientResponse
        do {
            let deadline = timeout.map { NIODeadline.now() + TimeAmount($0) } ?? .distantFuture
            response = try await client.execute(request, deadline: deadline)
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw IoTError(.messageTimeout, "the daemon took longer than \(timeout.map(Format.duration) ?? "that")")
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as HTTPClientError where error == .cancelled {
            throw CancellationError()
        } catch {
            throw await describe(error)
        }
        guard (200..<300).contains(response.status.code) else { throw try await failure(response) }
        return response
    }

    private func failure(_ response: HTTPClientResponse) async throws -> IoTError {
        let bytes = try await collect(response)
        guard let body = try? APICoding.decode(ErrorResponse.self, from: bytes) else {
            return IoTError(
                .daemonUnreachable, "\(address.description) answers HTTP \(response.status), but is not an iotvideod")
        }
        return body.error.error
    }

    private func collect(_ response: HTTPClientResponse) async throws -> [UInt8] {
        do {
            return Array(buffer: try await response.body.collect(upTo: Self.maximumAnswerSize))
        } catch is NIOTooManyBytesError {
            throw IoTError(
                .payloadTooLarge, "the daemon's answer is larger than \(Self.maximumAnswerSize >> 20) MiB",
                remedy: "request a smaller part")
        } catch {
            throw lost(error)
        }
    }

    /// Maps the error of the client, or of its HTTP parser, for a body that breaks off.
    private func lost(_ error: any Error) -> any Error {
        if error is CancellationError || error as? HTTPClientError == .cancelled { return CancellationError() }
        return IoTError(.daemonUnreachable, "the daemon ended the connection", underlying: error)
    }

    private func url(_ path: APIPath) -> String {
        switch address {
        case .unixSocket(let socket): "http+unix://\(APIPath.encode(socket.path))\(path.text)"
        case .remote(let remote): remote.url + path.text
        }
    }

    private func describe(_ error: any Error) async -> IoTError {
        if case .remote(let remote) = address, case .pinned(let certificate) = remote.trust,
            ConnectionFailure.isRejectedCertificate(error),
            let changed = await FirstUse.changed(remote, from: certificate)
        {
            return changed
        }
        return ConnectionFailure.describe(error, address)
    }
}
