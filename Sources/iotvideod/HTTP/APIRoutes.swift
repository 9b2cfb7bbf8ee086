import GatewayAPI
import Hummingbird

/// The API, version 1. `docs/openapi.yaml` describes it.
enum APIRoutes {
    static var all: [APIRoute] {
        general + devices + properties + channels + media
    }

    private static var general: [APIRoute] {
        [
            APIRoute(.get, "/healthz") { _, _ in try Response(json: ["status": "ok"]) },
            APIRoute(.get, "/v1/status") { _, gateway in try Response(json: try await gateway.status()) },
            APIRoute(.get, "/v1/cameras") { _, gateway in
                try Response(json: CameraList(cameras: try await gateway.cameras()))
            },
        ]
    }
}
