import CoreMetrics
import GatewayAPI
import Hummingbird
import IoTCore
import NIOCore

/// The outermost middleware. Adds security fields to every response, counts it, and writes changes and refusals to the
/// audit log.
struct RecordMiddleware: RouterMiddleware {
    let audit: AuditLog?
    let metrics: MetricsRegistry

    func handle(
        _ request: Request, context: APIContext,
        next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let started = NIODeadline.now()
        var response = try await next(request, context)
        let facts = context.record.facts
        harden(&response, facts)
        count(request, response, facts, since: started)
        write(request, context, response, facts)
        return response
    }

    private func harden(_ response: inout Response, _ facts: RequestRecord.Facts) {
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
        }
        if let name = HTTPFieldName.referrerPolicy { response.headers[name] = "no-referrer" }
        if let name = HTTPFieldName.resourcePolicy {
            response.headers[name] = facts.origin == nil ? "same-origin" : "cross-origin"
        }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        if let origin = facts.origin {
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] =
                "Accept-Patch, ETag, \(APIHeader.keySource), Link, Location, Retry-After"
            response.headers[.vary] = "Origin"
        }
    }

    private func count(
        _ request: Request, _ response: Response, _ facts: RequestRecord.Facts, since started: NIODeadline
    ) {
        // Labels contain only our own words, never text that a client sent.
        let route = facts.route ?? "none"
        let method = APIRouter.methods.contains(request.method) ? request.method.rawValue : "other"
        metrics.series(
            "iotvideod_http_requests",
            [("method", method), ("route", route), ("status", String(response.status.code))], .counter
        ).increment(by: Int64(1))
        metrics.series("iotvideod_http_request_duration_seconds", [("route", route)], .timer)
            .recordNanoseconds((NIODeadline.now() - started).nanoseconds)
    }

    private func write(
        _ request: Request, _ context: APIContext, _ response: Response, _ facts: RequestRecord.Facts
    ) {
        guard let audit else { return }
        let isChange = facts.route != nil && ![.get, .head, .options, .trace].contains(request.method)
        let isRefusal = [401, 403, 429].contains(response.status.code)
        guard isChange || isRefusal else { return }
        audit.write(
            AuditLog.Entry(
                t: WallClock.milliseconds(), caller: facts.caller, remote: context.remote,
                // Without the query, which may contain secrets and is not needed to identify the request.
                method: String(request.method.rawValue.prefix(16)), path: request.uri.path,
                status: response.status.code, code: facts.code))
    }
}
