import GatewayAPI
import Hummingbird
import IoTCore
import Logging
import NIOCore

/// Turns every failure on the way to a response into the API's error body.
struct ErrorMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as APIFailure {
            return error.response
        } catch let error as IoTError {
            if error.code == .internalFailure {
                context.logger.error("A request failed inside", metadata: ["error": "\(error)"])
            }
            return APIFailure(error).response
        } catch is NIOTooManyBytesError {
            let limit = APIRequest.maximumBodySize / 1024
            return APIFailure(IoTError(.payloadTooLarge, "a request's body may hold \(limit) KiB")).response
        } catch let error as HTTPError where error.status == .notFound {
            return APIFailure(IoTError(.notFound, "the API has no \(request.uri.path)")).response
        } catch is CancellationError {
            return APIFailure(IoTError(.stopping)).response
        } catch {
            context.logger.error("A request failed inside", metadata: ["error": "\(error)"])
            return APIFailure(IoTError(.internalFailure, underlying: error)).response
        }
    }
}

/// A failure with what its answer carries beyond the number.
struct APIFailure: Error {
    var error: IoTError
    var status: HTTPResponse.Status
    /// Methods that the path does know, for 405.
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
        return response
    }
}
