import Hummingbird
import IoTCore

/// Refuses requests of other sites' pages and requests for foreign host names before anything else is read. Answers the
/// CORS preflights of allowed pages (Fetch §3.2.2).
struct DoorMiddleware: RouterMiddleware {
    let door: APIDoor

    func handle(
        _ request: Request, context: APIContext,
        next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard let origin = try door.checkOrigin(request) else { return try await next(request, context) }
        context.record.note { $0.origin = origin }
        guard request.method == .options, request.headers[.accessControlRequestMethod] != nil else {
            return try await next(request, context)
        }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, HEAD, POST, PUT, PATCH, DELETE",
                .accessControlAllowHeaders: "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID",
                .accessControlMaxAge: "600",
            ])
    }
}
