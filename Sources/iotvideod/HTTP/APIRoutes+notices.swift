import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var notices: [APIRoute] {
        [
            APIRoute(.get, "/v1/notices") { _, gateway in try Response(json: try await gateway.notices.show()) },
            APIRoute(.put, "/v1/notices") { request, gateway in
                let body = try await request.decode(NoticeRequest.self)
                do {
                    return try Response(json: try await gateway.notices.set(body))
                } catch let error as IoTError where error.code == .invalidRequest {
                    // The request is well formed, but the URL's host or port may be none.
                    throw APIFailure(error, status: .unprocessableContent)
                }
            },
            APIRoute(.delete, "/v1/notices") { _, gateway in
                try await gateway.notices.remove()
                return try Response(json: EmptyResponse())
            },
        ]
    }
}
