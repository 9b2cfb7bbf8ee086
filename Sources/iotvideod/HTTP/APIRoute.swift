import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

/// One row of the API: what `docs/openapi.yaml` describes and the router serves. `RouteRights` says who may.
struct APIRoute: Sendable {
    typealias Handler = @Sendable (APIRequest, any GatewaySession) async throws -> Response
    /// For routes that need nobody.
    typealias OpenHandler = @Sendable (APIRequest, any GatewayService) async throws -> Response

    enum Handling: Sendable {
        case gateway(Handler)
        case open(OpenHandler)
        /// The one for who shows who it is, the other for everybody else.
        case either(Handler, OpenHandler)
    }

    let method: HTTPRequest.Method
    /// With parameters as OpenAPI writes them: `/v1/channels/{id}`.
    let path: String
    let query: Set<String>
    /// Those query items that may come several times.
    let repeatable: Set<String>
    /// True where an answer is made at once, so that HEAD can be given without side effects.
    let answersHead: Bool
    /// False where the request says, or the world, how long it takes.
    let isTimed: Bool
    /// True where something is made in this gateway, so that it remembers the answers (`RepeatedRequests`).
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

    /// A list, which is given in pages to who asks for them.
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

    /// The query item that holds a media key.
    static let key = "key"

    private var isOpenToKeys: Bool { RouteRights.openToKeys.contains("\(method.rawValue) \(path)") }

    /// Throws 25005 when a media key opens something else.
    func checkIsOpenToKeys() throws(IoTError) {
        guard isOpenToKeys else {
            throw IoTError(
                .forbidden, "a media key opens media and event streams alone",
                remedy: "send an API token as 'Authorization: Bearer TOKEN'")
        }
    }

    func knows(query name: String) -> Bool {
        query.contains(name) || name == Self.key && isOpenToKeys
    }
}
