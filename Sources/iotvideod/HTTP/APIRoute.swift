import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

/// One operation of the API, as described in `docs/openapi.yaml`. `RouteRights` defines who may call it.
struct APIRoute: Sendable {
    typealias Handler = @Sendable (APIRequest, any GatewaySession) async throws -> Response
    /// Handles routes that need no caller.
    typealias OpenHandler = @Sendable (APIRequest, any GatewayService) async throws -> Response

    enum Handling: Sendable {
        case gateway(Handler)
        case open(OpenHandler)
        /// The first for requests with credentials, the second for all others.
        case either(Handler, OpenHandler)
    }

    let method: HTTPRequest.Method
    /// With parameters as in OpenAPI: `/v1/channels/{id}`.
    let path: String
    let query: Set<String>
    /// The query items that may be repeated.
    let repeatable: Set<String>
    /// True if the handler has no side effects and does not wait, so that HEAD can use it.
    let answersHead: Bool
    /// Whether `api.requestTimeout` applies: not where the duration depends on the request or on external events.
    let isTimed: Bool
    /// True if the request creates something in this gateway: a repeated request gets the stored response
    /// (`RepeatedRequests`).
    let makes: Bool
    let handling: Handling

    init(
        _ method: HTTPRequest.Method, _ path: String, query: Set<String> = [], repeatable: Set<String> = [],
        answersHead: Bool? = nil, isTimed: Bool = true, makes: Bool = false, _ handle: @escaping Handler
    ) {
        self.init(
            method, path, query: query, repeatable: repeatable, answersHead: answersHead, isTimed: isTimed,
            makes: makes, .gateway(handle))
    }

    /// A list, which is returned in pages on request.
    init(
        list path: String, query: Set<String> = [], repeatable: Set<String> = [],
        _ handle: @escaping @Sendable (APIRequest, PageRequest, any GatewaySession) async throws -> Response
    ) {
        self.init(.get, path, query: query.union(["limit", "after"]), repeatable: repeatable) { request, gateway in
            try await handle(request, try request.page, gateway)
        }
    }

    init(_ method: HTTPRequest.Method = .get, open path: String, _ handle: @escaping OpenHandler) {
        self.init(method, path, query: [], repeatable: [], answersHead: nil, isTimed: true, .open(handle))
    }

    init(_ method: HTTPRequest.Method, either path: String, known: @escaping Handler, _ handle: @escaping OpenHandler) {
        self.init(
            method, path, query: [], repeatable: [], answersHead: nil, isTimed: true, .either(known, handle))
    }

    private init(
        _ method: HTTPRequest.Method, _ path: String, query: Set<String>, repeatable: Set<String>,
        answersHead: Bool?, isTimed: Bool, makes: Bool = false, _ handling: Handling
    ) {
        self.method = method
        self.path = path
        self.query = query.union(repeatable)
        self.repeatable = repeatable
        self.answersHead = answersHead ?? (method == .get)
        self.isTimed = isTimed
        self.makes = makes
        self.handling = handling
    }

    var right: RouteRight { RouteRights.right(method.rawValue, path) }

    // MARK: Media keys

    /// The query item for a media key.
    static let key = "key"

    private var isOpenToKeys: Bool { RouteRights.openToKeys.contains("\(method.rawValue) \(path)") }

    /// Throws 25005 if this route does not accept media keys.
    func checkIsOpenToKeys() throws(IoTError) {
        guard isOpenToKeys else {
            throw IoTError(
                .forbidden, "a media key is accepted only for media and event streams",
                remedy: "send an API token as 'Authorization: Bearer TOKEN'")
        }
    }

    func knows(query name: String) -> Bool {
        query.contains(name) || name == Self.key && isOpenToKeys
    }
}
