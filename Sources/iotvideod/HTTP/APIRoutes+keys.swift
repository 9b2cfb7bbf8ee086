import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var keys: [APIRoute] {
        [
            APIRoute(list: "/v1/keys") { _, page, gateway in
                try Response(json: KeyList(try await gateway.keys.list(page)))
            },
            APIRoute(.post, "/v1/keys") { request, gateway in
                let body = try await request.decode(KeyRequest.self)
                if let user = body.user { _ = try APIRequest.account(user, "user") }
                try checkActions(body.actions)
                let made = try await gateway.keys.create(body, requestID: try request.requestID)
                return try Response(json: made, status: .created)
            },
            APIRoute(.delete, "/v1/keys/{id}") { request, gateway in
                try await gateway.keys.revoke(request.parameter("id"), requestID: try request.requestID)
                return try Response(json: EmptyResponse())
            },
        ]
    }
}
