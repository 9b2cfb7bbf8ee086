import IoTCore
import IoTLink

/// Media keys: credentials in an address, for clients without a bearer header. They open only media and events.
extension HubCore {
    // MARK: Requests

    mutating func createKey(_ call: HubCall<KeyCreation>) throws(IoTError) -> KeyResponse {
        let time = call.time
        let user = try call.permit.account()
        let name = try CredentialName.check(call.parameters.name)
        var wanted = call.parameters.scope
        let actions = wanted.actions ?? .view
        wanted.actions = actions
        guard actions.isSubset(of: KeyRecord.possibleActions) else {
            throw IoTError(
                .invalidRequest,
                "a media key can only allow \(KeyRecord.possibleActions.names.joined(separator: ", "))",
                remedy: "make an API token for other actions: `iotctl token create --api`")
        }
        let parent = try parentToken(call.parameters.within, call.permit)
        let scope = try scope(wanted, of: user, within: parent)
        guard scope.devices?.isEmpty != true else {
            throw IoTError(
                .invalidRequest, "a media key needs at least one device",
                remedy: "leave 'devices' out for all devices of the account")
        }
        guard state.keys.count(of: .user(user)) < limits.keysOfAccount else {
            throw IoTError(
                .tooManyRequests, "'\(user)' has \(limits.keysOfAccount) media keys",
                remedy: "revoke some: `iotctl key list`, `iotctl key revoke`")
        }
        let expires = try expiry(.user(user), lifetime: call.parameters.ttlSeconds, parent: parent?.id, at: time)
        let key = unusedKey()
        let record = KeyRecord(
            id: key.id, name: name, principal: .user(user), scope: scope, digest: KeyDigest(key),
            issued: time.seconds, expires: expires, parent: parent?.id)
        state.keys.add(record)
        turn.changes.append(.addKey(record))
        return KeyResponse(id: key.id, name: name, key: key.text, expires: expires)
    }

    func listKeys(_ query: PageQuery, _ permit: HubPermit) -> LinkPage<KeyDescription> {
        let keys = permit.isAdministrator ? Array(state.keys.values) : state.keys.of(permit.actor)
        return page(keys.map(\.id), query) { state.keys[$0].map(Self.describe) }
    }

    private static func describe(_ key: KeyRecord) -> KeyDescription {
        KeyDescription(
            id: key.id, name: key.name, account: key.principal.id, devices: key.scope.devices?.map(\.rawValue),
            actions: key.scope.actions?.list ?? [], issued: key.issued, expires: key.expires, lastUse: key.lastUse,
            parent: key.parent)
    }

    /// Finds a key by its id, or by the key itself, which is not repeated in an error.
    ///
    /// - Throws: 25003 if there is none.
    func key(named text: String) throws(IoTError) -> KeyRecord {
        let id = MediaKey(text)?.id ?? text
        guard let key = state.keys[id] else {
            throw IoTError(
                .notFound, "there is no media key '\(id.prefix(64))'", remedy: "list them with `iotctl key list`")
        }
        return key
    }

    /// The account of the key, and what the key allows. The check counts as a use.
    mutating func checkKey(_ text: String, at time: HubTime) throws(IoTError) -> CredentialGrant {
        guard let key = MediaKey(text), let record = state.keys[key.id], record.digest.matches(key) else {
            throw Self.unknownKey
        }
        return try grant(of: record, at: time)
    }

    /// Checks the proof of a key, and returns the key's account and what the key allows. The check counts as a use.
    ///
    /// The gateway that made the nonce checks that it is fresh. HA1 stays in the hub, because it could answer every
    /// challenge.
    mutating func checkProof(_ proof: KeyProof, at time: HubTime) throws(IoTError) -> CredentialGrant {
        let record = state.keys[proof.id]
        guard let authorization = proof.authorization(realm: KeyDigest.realm) else { throw Self.unknownKey }
        // The check takes the same time for an unknown key.
        let secret = record?.digest.secret(authorization.algorithm) ?? "-"
        guard authorization.isProof(of: secret, method: proof.method), let record else { throw Self.unknownKey }
        return try grant(of: record, at: time)
    }

    private static let unknownKey = IoTError(
        .unauthenticated, "the hub does not know this media key", remedy: "make a new one with `iotctl key create`")

    private mutating func grant(of record: KeyRecord, at time: HubTime) throws(IoTError) -> CredentialGrant {
        guard record.expires > time.seconds, let user = record.principal.accessID, state.users[user] != nil else {
            throw Self.unknownKey
        }
        noteUse(of: .key(record.id), after: record.lastUse, at: time)
        return CredentialGrant(
            id: record.id, account: user, kind: nil, expires: record.expires,
            devices: record.scope.devices?.map(\.rawValue), actions: record.scope.actions?.list ?? [])
    }

    // MARK: Helpers

    private func unusedKey() -> MediaKey {
        while true {
            let key = MediaKey.random()
            if state.keys[key.id] == nil { return key }
        }
    }

    mutating func removeKey(_ id: String) {
        guard state.keys.remove(id) != nil else { return }
        turn.changes.append(.removeKey(id))
    }

    mutating func removeKeys(of principal: Principal) {
        for key in state.keys.of(principal) { removeKey(key.id) }
    }
}
