import GatewayAPI
import Hummingbird
import HummingbirdCore
import IoTCore
import Logging
import NIOCore
import NIOEmbedded
import Synchronization

@testable import Gateway
@testable import iotvideod

/// The API's router for one listener, with a scripted gateway.
struct RouterFixture {
    let gateway: ScriptedGateway
    private let responder: RouterResponder<APIContext>

    init(
        _ gateway: ScriptedGateway = ScriptedGateway(grants: RouterFixture.grants),
        listener: APIListener = .tcp(host: "127.0.0.1", port: 0, tls: nil), access: APIAccess = APIAccess(),
        limits: APILimits = APILimits(), audit: AuditLog? = nil, metrics: MetricsRegistry = MetricsRegistry()
    ) {
        self.gateway = gateway
        let door = APIDoor(
            listener: listener, owner: gateway.account, access: access, tokens: gateway.tokens,
            connections: Connections(limits.connections))
        responder = APIRouter(service: gateway, door: door, limits: limits, audit: audit, metrics: metrics)
            .make().buildResponder()
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: String

        /// The error number; 0 without an error.
        var code: Int {
            (try? APICoding.decode(ErrorResponse.self, from: body.utf8))?.error.code ?? 0
        }
    }

    func ask(
        _ method: String, _ path: String, token: String? = nil, body: String? = nil, type: String? = "application/json",
        headers: [String: String] = ["Host": "127.0.0.1"]
    ) async throws -> Answer {
        var head = HTTPRequest(
            method: HTTPRequest.Method(rawValue: method)!, scheme: "http", authority: headers["Host"], path: path)
        for (name, value) in headers where name != "Host" { head.headerFields[HTTPFields.Key(name)!] = value }
        if let token { head.headerFields[.authorization] = "Bearer \(token)" }
        if body != nil, let type { head.headerFields[.contentType] = type }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let context = APIContext(
            source: ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: Logger(label: "test")))
        let response = try await responder.respond(to: request, context: context)
        let writer = CollectingWriter()
        // The body of a stream needs a real connection, because it watches for its end.
        if response.headers[.contentType] != "text/event-stream" { try await response.body.write(writer) }
        return Answer(
            status: response.status.code, headers: response.headers,
            body: String(buffer: writer.storage.withLock { $0 }))
    }

    // MARK: Tokens

    static let administrator = "administrator.api.token"
    static let member = "member.api.token"
    /// A member's token for one device and `view`.
    static let limited = "limited.api.token"
    /// An administrator's token for `view` only.
    static let limitedAdministrator = "limited-administrator.api.token"
    /// The member's media key for one device.
    static let key = "0123456789AAECAwQFBgcICQoLDA0ODw"
    static let device = "00112233445566778899aabbccddeeff"

    static let grants: [String: TokenGrant] = [
        administrator: grant("1", "owner", true),
        member: grant("2", "guest", false),
        limited: grant("3", "guest", false, Caller.Scope(devices: [device], actions: [.view])),
        key: grant("0123456789", "guest", false, Caller.Scope(devices: [device], actions: [.view, .playback])),
        limitedAdministrator: grant("4", "owner", true, Caller.Scope(actions: [.view])),
    ]

    static func caller(of token: String) -> Caller? {
        BearerToken(token.utf8).flatMap { grants[token]?.caller(showing: $0) }
    }

    static func grant(
        _ id: String, _ account: String, _ isAdministrator: Bool, _ scope: Caller.Scope = .all
    ) -> TokenGrant {
        TokenGrant(
            id: id, account: AccessID(rawValue: account)!, isAdministrator: isAdministrator, expires: .max / 2000,
            scope: scope)
    }
}
