import Hummingbird

/// One row of the API: what `docs/openapi.yaml` describes and the router serves.
struct APIRoute: Sendable {
    let method: HTTPRequest.Method
    /// With parameters as OpenAPI writes them: `/v1/channels/{id}`.
    let path: String
    let query: Set<String>
    /// True where an answer is made at once, so that HEAD can be given without side effects.
    let answersHead: Bool
    let handle: @Sendable (APIRequest, any Gateway) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String, query: Set<String> = [], answersHead: Bool? = nil,
        _ handle: @escaping @Sendable (APIRequest, any Gateway) async throws -> Response
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.answersHead = answersHead ?? (method == .get)
        self.handle = handle
    }
}
