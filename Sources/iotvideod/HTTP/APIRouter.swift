import Gateway
import Hummingbird
import IoTCore

/// Builds Hummingbird's router from the table, and answers requests that the table does not cover: 404, 405 and HEAD.
struct APIRouter: Sendable {
    static let methods: [HTTPRequest.Method] = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]

    let service: any GatewayService
    let door: APIDoor
    let limits: APILimits
    let audit: AuditLog?
    let metrics: MetricsRegistry
    private let repeated = RepeatedRequests()

    init(
        service: any GatewayService, door: APIDoor, limits: APILimits, audit: AuditLog?, metrics: MetricsRegistry
    ) {
        self.service = service
        self.door = door
        self.limits = limits
        self.audit = audit
        self.metrics = metrics
    }

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

    /// Checks the caller first, then the token's rights, and only then the request itself.
    private func respond(to request: Request, _ context: APIContext, _ route: APIRoute) async throws -> Response {
        context.record.note { $0.route = route.path }
        switch route.handling {
        case .open(let handle): return try await respond(to: request, context, route, handle)
        case .gateway(let handle): return try await respond(to: request, context, route, handle)
        case .either(let known, let open):
            guard door.isKnown(request) else { return try await respond(to: request, context, route, open) }
            return try await respond(to: request, context, route, known)
        }
    }

    private func respond(
        to request: Request, _ context: APIContext, _ route: APIRoute, _ handle: @escaping APIRoute.OpenHandler
    ) async throws -> Response {
        if door.showsKey(request) { try route.checkIsOpenToKeys() }
        let read = try APIRequest(request, context, route, nil)
        return try await timed(route) { try await handle(read, service) }
    }

    private func respond(
        to request: Request, _ context: APIContext, _ route: APIRoute, _ handle: @escaping APIRoute.Handler
    ) async throws -> Response {
        let caller = try await door.caller(request, context)
        context.record.note { $0.caller = caller }
        door.connections.serve(context.channel)
        if case .key = caller.credentials { try route.checkIsOpenToKeys() }
        try route.right.check(caller)
        let lease = service.leases.begin(caller) { [channel = context.channel] in channel.close(promise: nil) }
        lease.keep(try service.quotas.take(.requests, for: caller.holder(owner: service.account)))
        let gateway = service.session(for: lease)
        let carryOut = { @Sendable (request: Request) in
            let read = try APIRequest(request, context, route, lease)
            return try await timed(route) { try await handle(read, gateway) }
        }
        return try await whileValid(lease) {
            guard route.makes, let key = try APIRequest(request, context, route, lease).requestID else {
                return try await carryOut(request)
            }
            return try await repeated.answer(RepeatedRequests.Key(caller, key), to: request, carryOut)
        }
    }

    /// A response is withheld if the lease has ended meanwhile.
    private func whileValid(
        _ lease: Lease, _ work: @escaping @Sendable () async throws -> Response
    ) async throws -> Response {
        try await withThrowingTaskGroup(of: Response.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await lease.ended()
                throw CancellationError()
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            try lease.check()
            return response
        }
    }

    private func timed(
        _ route: APIRoute, _ work: @escaping @Sendable () async throws -> Response
    ) async throws -> Response {
        guard route.isTimed else { return try await work() }
        let error = IoTError(.messageTimeout, "the request took longer than api.requestTimeout")
        return try await within(limits.requestTimeout, orThrow: error, work)
    }
}
