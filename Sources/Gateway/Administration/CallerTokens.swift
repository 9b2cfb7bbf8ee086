import GatewayAPI
import IoTCore
import IoTLink

struct CallerTokens: GatewayTokens {
    let session: CallerSession

    func list(_ page: PageRequest) async throws -> Page<TokenDescription> {
        try await session.hub.page(TokenDescription.self, TokenMethod.list, page, key: "tokens", name: "id")
    }

    func create(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse {
        let devices = JSONValue.list(request.devices)
        let result: JSONValue
        switch request.kind {
        case .link:
            let principal = request.user.flatMap(AccessID.init(rawValue:)).map { Principal.user($0).description }
            result = try await session.hub.ask(
                TokenMethod.create,
                [
                    "principal": .text(principal), "name": .text(request.name),
                    "ttlSeconds": .number(request.ttlSeconds), "within": session.token,
                ], id: requestID)
        case .api:
            result = try await session.hub.ask(
                TokenMethod.createAPI,
                [
                    "user": .text(request.user), "name": .text(request.name), "devices": devices,
                    "actions": .list(request.actions), "ttlSeconds": .number(request.ttlSeconds),
                    "within": session.token,
                ], id: requestID)
        case .enrolment:
            result = try await session.hub.ask(
                TokenMethod.enrol,
                [
                    "user": .text(request.user), "devices": devices, "ttlSeconds": .number(request.ttlSeconds),
                    "within": session.token,
                ], id: requestID)
        }
        guard let id = result["id"]?.stringValue, let expires = result["expires"]?.integerValue else {
            throw IoTError(.modelReceiveFailed, "the hub's answer holds no token")
        }
        return TokenResponse(
            id: id, kind: request.kind, token: result["token"]?.stringValue,
            enrolment: result["enrolment"]?.stringValue, expires: expires)
    }

    func revoke(_ id: String) async throws {
        guard try await !session.gateway.usesToken(id) else {
            throw IoTError(
                .operationNotAllowed, "this daemon itself uses the token \(id)",
                remedy: "revoke another; the daemon renews its own")
        }
        _ = try await session.hub.ask(TokenMethod.revoke, ["id": .string(id)])
    }
}
