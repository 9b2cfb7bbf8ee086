import IoTCore
import IoTLink

/// Media keys: what stands in an address where no bearer header can, good for media and events alone.
extension HubCore {
    // MARK: As requests

    mutating func createKey(
        _ parameters: LinkMembers, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> JSONValue {
        let user = try permit.account()
        let name = try CredentialName.check(try parameters.text("name"))
        let lifetime = try parameters.lifetime("ttlSeconds", Self.tokenLifetimes)
        let actions = try parameters.optionalActions("actions") ?? .view
        guard actions.isSubset(of: KeyRecord.possibleActions) else {
            throw IoTError(
                .invalidRequest,
                "a media key can be good for \(KeyRecord.possibleActions.names.joined(separator: ", ")) alone",
                remedy: "make an API token for other actions: `iotctl token create --api`")
        }
        let parent = try parentToken(parameters, permit)
        let scope = try scope(parameters, actions, of: user, within: parent)
        guard scope.devices?.isEmpty != true else {
            throw IoTError(
                .invalidRequest, "a media key is good for one device at least",
                remedy: "leave 'devices' out for all devices of the account")
        }
        guard state.keys.count(of: .user(user)) < limits.keysOfAccount else {
            throw IoTError(
                .tooManyRequests, "'\(user)' has \(limits.keysOfAccount) media keys",
                remedy: "revoke some: `iotctl key list`, `iotctl key revoke`")
        }
        let expires = try expiry(.user(user), lifetime: lifetime, parent: parent?.id, at: time)
        let key = unusedKey()
        let record = KeyRecord(
            id: key.id, name: name, principal: .user(user), scope: scope, digest: KeyDigest(key),
            issued: time.seconds, expires: expires, parent: parent?.id)
        state.keys.add(record)
        turn.changes.append(.addKey(record))
        return [
            "id": .string(key.id), "name": .string(name), "key": .string(key.text), "expires": .integer(expires),
        ]
    }

    func listKeys(_ parameters: LinkMembers, _ permit: HubPermit) throws(IoTError) -> JSONValue {
        let keys = permit.isAdministrator ? Array(state.keys.values) : state.keys.of(permit.actor)
        let (ids, more) = try page(keys.map(\.id), parameters)
        return ["keys": .array(ids.compactMap { state.keys[$0] }.map(Self.describe)), "more": .bool(more)]
    }

    private static func describe(_ key: KeyRecord) -> JSONValue {
        var line: JSONValue = [
            "id": .string(key.id), "name": .string(key.name), "account": .string(key.principal.id),
            "actions": key.scope.actions?.json ?? [], "issued": .integer(key.issued), "expires": .integer(key.expires),
        ]
        line["devices"] = key.scope.devices.map { list($0) }
        line["lastUse"] = key.lastUse.map { .integer($0) }
        line["parent"] = key.parent.map { .string($0) }
        return line
    }

    mutating func revokeKey(_ parameters: LinkMembers) throws(IoTError) -> JSONValue {
        removeKey(try namedKey(parameters).id)
        return [:]
    }

    /// The key that `id` names: its id, or the key itself, which is not repeated in an error.
    ///
    /// - Throws: 25003 when there is none.
    func namedKey(_ parameters: LinkMembers) throws(IoTError) -> KeyRecord {
        let text = try parameters.text("id")
        let id = MediaKey(text)?.id ?? text
        guard let key = state.keys[id] else {
            throw IoTError(
                .notFound, "there is no media key '\(id.prefix(64))'", remedy: "list them with `iotctl key list`")
        }
        return key
    }

    /// Whose the key is, and what it is good for. Who shows it uses it.
    mutating func checkKey(_ parameters: LinkMembers, at time: HubTime) throws(IoTError) -> JSONValue {
        guard let key = MediaKey(try parameters.text("key")), let record = state.keys[key.id],
            record.digest.matches(key), record.expires > time.seconds, let user = record.principal.accessID,
            state.users[user] != nil
        else {
            throw IoTError(
                .unauthenticated, "the hub does not know this media key",
                remedy: "make a new one with `iotctl key create`")
        }
        noteUse(of: .key(record.id), after: record.lastUse, at: time)
        return [
            "account": .string(user.rawValue), "id": .string(record.id), "expires": .integer(record.expires),
            "devices": record.scope.devices.map { Self.list($0) } ?? .null, "actions": record.scope.actions?.json ?? [],
        ]
    }

    // MARK: Parts

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
