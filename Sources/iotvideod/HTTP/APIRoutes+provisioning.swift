import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var provisioning: [APIRoute] {
        [
            APIRoute(.post, "/v1/net/tokens") { request, gateway in
                let body = try await request.decode(ProvisioningTokenRequest.self)
                if let seconds = body.ttlSeconds { try check(ttlSeconds: seconds, Lifetimes.enrolments) }
                let made = try await gateway.tokens.createProvisioning(body, requestID: try request.requestID)
                return try Response(json: made, status: .created)
            },
            APIRoute(.get, "/v1/net/tokens/{id}") { request, gateway in
                try Response(json: try await gateway.tokens.provisioning(request.parameter("id")))
            },
        ]
    }
}
