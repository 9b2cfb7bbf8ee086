import GatewayAPI
import Hummingbird

/// The API, version 1. `docs/openapi.yaml` describes it.
struct APIRoutes: Sendable {
    let gateway: any Gateway

    var all: [APIRoute] {
        general + devices + properties + channels + media
    }

    private var general: [APIRoute] {
        [
            APIRoute(.get, "/healthz") { _ in try Response(json: ["status": "ok"]) },
            APIRoute(.get, "/v1/status") { _ in try Response(json: try await gateway.status()) },
            APIRoute(.get, "/v1/cameras") { _ in
                try Response(json: CameraList(cameras: try await gateway.cameras()))
            },
        ]
    }
}
