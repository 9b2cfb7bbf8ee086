import Hummingbird
import IoTCore

/// Builds Hummingbird's router from the table, and answers what the table does not have: 404, 405 and HEAD.
enum APIRouter {
    private static let methods: [HTTPRequest.Method] = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]

    static func make(_ routes: [APIRoute], gateway: any Gateway) -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: ErrorMiddleware())
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            let routerPath = RouterPath(path)
            var served: Set<HTTPRequest.Method> = []
            for route in routes {
                served.insert(route.method)
                router.on(routerPath, method: route.method) { request, context in
                    try await route.handle(APIRequest(request, context, knownQuery: route.query), gateway)
                }
                if route.answersHead {
                    served.insert(.head)
                    router.on(routerPath, method: .head) { request, context in
                        try await route.handle(APIRequest(request, context, knownQuery: route.query), gateway)
                            .createHeadResponse()
                    }
                }
            }
            let allow = methods.filter(served.contains).map(\.rawValue).joined(separator: ", ")
            for method in methods where !served.contains(method) {
                router.on(routerPath, method: method) { request, _ -> Response in
                    let message = "\(path) knows \(allow), not \(method.rawValue)"
                    throw APIFailure(IoTError(.invalidRequest, message), status: .methodNotAllowed, allow: allow)
                }
            }
        }
        return router
    }
}
