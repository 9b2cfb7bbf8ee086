import GatewayAPI
import Hummingbird
import IoTCore
import Logging
import NIOCore
import NIOHTTP1

/// Turns every failure of a request into the API's error body.
struct ErrorMiddleware: RouterMiddleware {
    let known: KnownPaths

    func handle(
        _ request: Request, context: APIContext,
        next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPParserError {
            // The head was valid, but the coding of the body is not (RFC 9112 §7.1). As for an invalid head, the server
            // responds with 400 and closes the connection.
            throw error
        } catch {
            let failure = failure(error, request, context)
            context.record.note { $0.code = failure.error.code.rawValue }
            // The body of an answer to HEAD would be read as the next answer (RFC 9110 §9.3.2).
            return request.method == .head ? failure.response.createHeadResponse() : failure.response
        }
    }

    private func failure(_ error: any Error, _ request: Request, _ context: APIContext) -> APIFailure {
        switch error {
        case let error as APIFailure: return error
        case let error as IoTError:
            if error.code == .internalFailure {
                context.logger.error("A request failed inside", metadata: ["error": "\(error)"])
            }
            return APIFailure(error)
        case is NIOTooManyBytesError:
            let limit = APIRequest.maximumBodySize / 1024
            return APIFailure(IoTError(.payloadTooLarge, "a request's body may have at most \(limit) KiB"))
        case let error as HTTPError where error.status == .notFound:
            if let allow = known.allow(request.uri.path) {
                let message = "\(request.uri.path) supports \(allow), not \(request.method.rawValue)"
                return APIFailure(IoTError(.invalidRequest, message), status: .methodNotAllowed, allow: allow)
            }
            return APIFailure(IoTError(.notFound, "the API has no \(request.uri.path)"))
        case is CancellationError: return APIFailure(IoTError(.stopping))
        default:
            context.logger.error("A request failed inside", metadata: ["error": "\(error)"])
            return APIFailure(IoTError(.internalFailure, underlying: error))
        }
    }
}

/// A failure with the additional contents of its response.
struct APIFailure: Error {
    var error: IoTError
    var status: HTTPResponse.Status
    /// The methods that the path supports, for status 405.
    var allow: String?
    var current: PropertyResponse?

    init(_ error: IoTError, status: HTTPResponse.Status? = nil, allow: String? = nil, current: PropertyResponse? = nil)
    {
        self.error = error
        self.status = status ?? HTTPResponse.Status(error.code)
        self.allow = allow
        self.current = current
    }

    var response: Response {
        let body = ErrorResponse(error: APIError(error), current: current)
        var response = (try? Response(json: body, status: status)) ?? Response(status: .internalServerError)
        if let allow { response.headers[.allow] = allow }
        // RFC 6750 §3.
        if status == .unauthorized { response.headers[.wwwAuthenticate] = #"Bearer realm="iotvideod""# }
        if status == .tooManyRequests { response.headers[.retryAfter] = "1" }
        return response
    }
}
