import GatewayAPI
import IoTCore
import IoTLink

extension HubClient {
    /// Asks the hub about an API token or a media key.
    ///
    /// - Parameter own: the account of the link.
    /// - Throws: 25004 if the credential is invalid.
    static func check(_ token: BearerToken, link: any HubLink, own: AccessID) async throws(IoTError) -> TokenGrant {
        let client = HubClient(link: link, account: nil)
        let grant =
            switch token.kind {
            case .api: try await client.ask(TokenMethod.check, TokenText(token: token.text))
            case .key: try await client.checkKey(token)
            }
        let isAdministrator: Bool
        if token.kind == .key {
            isAdministrator = false
        } else if let kind = grant.kind {
            isAdministrator = kind == .administrator
        } else {
            let principal = grant.account == own ? nil : Principal.user(grant.account)
            isAdministrator = try await HubClient(link: link, account: principal).isAdministrator()
        }
        return TokenGrant(
            id: grant.id, account: grant.account, isAdministrator: isAdministrator, expires: grant.expires,
            scope: Caller.Scope(
                devices: grant.devices.map { Set($0) },
                actions: grant.actions.map { Set($0) } ?? (token.kind == .key ? [] : nil)))
    }

    /// A hub without support for media keys, or for their proofs, refuses the method.
    private func checkKey(_ key: BearerToken) async throws(IoTError) -> CredentialGrant {
        do {
            guard let proof = key.proof else { return try await ask(KeyMethod.check, KeyText(key: key.text)) }
            return try await ask(KeyMethod.prove, proof)
        } catch {
            guard error.code == .invalidRequest else { throw error }
            let what = key.proof == nil ? "media keys" : "digests of media keys"
            throw IoTError(.unauthenticated, "the hub cannot check \(what)", remedy: "update the hub's box")
        }
    }

    /// An older hub does not report account kinds. It is sent a request that only administrators may make.
    private func isAdministrator() async throws(IoTError) -> Bool {
        do {
            _ = try await ask(UserMethod.list, PageQuery(limit: 1))
            return true
        } catch {
            guard error.code == .forbidden else { throw error }
            return false
        }
    }

    /// The public keys of the hub's tokens; `nil` for a hub that does not provide them.
    func tokenKeys() async throws(IoTError) -> TokenKeys? {
        do {
            return TokenKeys(jwkSet: try await ask(TokenMethod.keys, LinkNothing()))
        } catch {
            guard error.code == .invalidRequest else { throw error }
            return nil
        }
    }
}
