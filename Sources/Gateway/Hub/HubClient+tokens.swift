import GatewayAPI
import IoTCore
import IoTLink

extension HubClient {
    /// What the hub says of an API token or a media key.
    ///
    /// - Parameter own: the account whose link it is.
    /// - Throws: 25004 for one that is not good.
    static func check(_ token: BearerToken, link: any HubLink, own: AccessID) async throws(IoTError) -> TokenGrant {
        let client = HubClient(link: link, account: nil)
        let result =
            switch token.kind {
            case .api: try await client.ask(TokenMethod.check, ["token": .string(token.text)])
            case .key: try await client.checkKey(token)
            }
        guard let id = result["id"]?.stringValue, let expires = result["expires"]?.integerValue,
            let account = result["account"]?.stringValue.flatMap(AccessID.init(rawValue:))
        else {
            throw IoTError(.modelReceiveFailed, "the hub's answer about the \(token.kind.noun) makes no sense")
        }
        let isAdministrator: Bool
        if token.kind == .key {
            isAdministrator = false
        } else if let kind = result["kind"]?.stringValue {
            isAdministrator = kind == AccountKind.administrator.rawValue
        } else {
            let principal = account == own ? nil : Principal.user(account)
            isAdministrator = try await HubClient(link: link, account: principal).isAdministrator()
        }
        return TokenGrant(
            id: id, account: account, isAdministrator: isAdministrator, expires: expires,
            scope: Caller.Scope(
                devices: result["devices"]?.arrayValue.map { Set($0.compactMap(\.stringValue)) },
                actions: DeviceAction.list(result["actions"]).map { Set($0) } ?? (token.kind == .key ? [] : nil)))
    }

    /// A hub that has no media keys knows none.
    private func checkKey(_ key: BearerToken) async throws(IoTError) -> JSONValue {
        do {
            return try await ask(KeyMethod.check, ["key": .string(key.text)])
        } catch {
            guard error.code == .invalidRequest else { throw error }
            throw IoTError(.unauthenticated, "the hub has no media keys", remedy: "update the hub's box")
        }
    }

    /// A hub that does not report account kinds is asked for something that only administrators may do.
    private func isAdministrator() async throws(IoTError) -> Bool {
        do {
            _ = try await ask(UserMethod.list, ["limit": 1])
            return true
        } catch {
            guard error.code == .forbidden else { throw error }
            return false
        }
    }

    /// The keys that the hub signs tokens with; `nil` for a hub that does not give them.
    func tokenKeys() async throws(IoTError) -> TokenKeys? {
        do {
            return TokenKeys(jwkSet: try await ask(TokenMethod.keys))
        } catch {
            guard error.code == .invalidRequest else { throw error }
            return nil
        }
    }
}
