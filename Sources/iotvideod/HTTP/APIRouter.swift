import Hummingbird
import IoTCore

/// Builds Hummingbird's router from the table, and answers what the table does not have: 404, 405 and HEAD.
struct APIRouter: Sendable {
    static let methods: [HTTPRequest.Method] = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]

    let service: any GatewayService
    let door: APIDoor
    let limits: APILimits
    let audit: AuditLog?
    let metrics: MetricsRegistry

    func make(_ routes: [APIRoute] = APIRoutes.all) -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: RecordMiddleware(audit: audit, metrics: metrics))
        router.add(middleware: ErrorMiddleware(known: KnownPaths(routes)))
        router.add(middleware: DoorMiddleware(door: door))
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await respond(to: request, context, route)
            }
            guard route.answersHead else { continue }
            router.on(RouterPath(route.path), method: .head) { request, context in
                try await respond(to: request, context, route).createHeadResponse()
            }
        }
        return router
    }

    /// Who asks comes first, then what the token is good for; only then is the request itself looked at.
    private func respond(to request: Request, _ context: APIContext, _ route: APIRoute) async throws -> Response {
        context.record.note { $0.route = route.path }
        switch route.handling {
        case .open(let handle):
            let read = try APIRequest(request, context, route)
            return try await timed(route) { try await handle(read, service) }
        case .gateway(let handle):
            let caller = try await door.caller(request, context)
            context.record.note { $0.caller = caller }
            try route.right.check(caller)
            let read = try APIRequest(request, context, route)
            let gateway = service.gateway(for: caller)
            return try await timed(route) { try await handle(read, gateway) }
        }
    }

    private func timed(
        _ route: APIRoute, _ work: @escaping @Sendable () async throws -> Response
    ) async throws -> Response {
        guard route.isTimed else { return try await work() }
        return try await withThrowingTaskGroup(of: Response.self) { group in
            group.addTask { try await work() }
            group.addTask { [limits] in
                try await Task.sleep(for: limits.requestTimeout)
                throw IoTError(.messageTimeout, "the request took longer than api.requestTimeout")
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }
}
