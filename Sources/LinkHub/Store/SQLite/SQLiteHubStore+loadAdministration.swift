import Firmware
import Foundation
import GRDB
import IoTCore
import IoTLink

/// Reads accounts, bindings, tokens, and the state that outlives sessions.
extension SQLiteHubStore {
    static func loadAccounts(_ database: Database, into stored: inout StoredState) throws {
        try stored.each(database, .users) { row, stored in
            let device: String? = try row.readIfPresent("device")
            let oneCall: Int? = try row.readIfPresent("one_call")
            stored.state.users[try user(row.read("id"))] = UserRecord(
                kind: try read(AccountKind(rawValue: row.read("kind")), "its kind"), device: try device.map(deviceID),
                expires: try row.readIfPresent("expires"), created: try row.read("created_at"),
                oneCall: try oneCall.map { try read(UserRecord.OneCall(rawValue: $0), "its call") })
        }
        try stored.each(database, .bindings) { row, stored in
            let (user, device) = (try user(row.read("user")), try deviceID(row.read("device")))
            try knows(device, stored.state)
            guard stored.state.users[user] != nil else { throw IoTError(.storeFailed, "there is no such account") }
            stored.state.bindings.set(
                user, device,
                Binding(
                    role: try read(BindingRole(rawValue: row.read("role")), "its role"),
                    actions: try actions(row.read("actions")), since: try row.read("since")))
        }
    }

    static func loadTokens(_ database: Database, into stored: inout StoredState) throws {
        try stored.each(database, .tokens) { row, stored in
            let id: String = try row.read("id")
            let kind = try read(TokenRecord.Kind(rawValue: row.read("kind")), "its kind")
            let principal = try principal(row.read("principal"), "its principal")
            let devices: String? = try row.readIfPresent("devices")
            let allowed: String? = try row.readIfPresent("actions")
            stored.state.tokens.add(
                TokenRecord(
                    id: id, kind: kind, name: try row.readIfPresent("name"), principal: principal,
                    credential: kind == .link
                        ? BrokerCredential(
                            tokenID: id, principal: principal, hash: try row.read("hash"), salt: try row.read("salt"))
                        : nil,
                    issued: try row.read("issued"), expires: try row.read("expires"),
                    isLocal: try row.read("is_local"),
                    scope: TokenRecord.Scope(
                        devices: try devices.map { try texts($0, "its list of devices").map(deviceID) },
                        actions: try allowed.map(actions)), parent: try row.readIfPresent("parent"),
                    lastUse: try row.readIfPresent("last_use")))
        }
        try stored.each(database, .mediaKeys) { row, stored in
            let devices: String? = try row.readIfPresent("devices")
            stored.state.keys.add(
                KeyRecord(
                    id: try row.read("id"), name: try row.read("name"),
                    principal: try principal(row.read("principal"), "its principal"),
                    scope: TokenRecord.Scope(
                        devices: try devices.map { try texts($0, "its list of devices").map(deviceID) },
                        actions: try actions(row.read("actions"))),
                    digest: try read(
                        KeyDigest(md5: row.read("ha1_md5"), sha256: row.read("ha1_sha256")), "its digest"),
                    issued: try row.read("issued"), expires: try row.read("expires"),
                    parent: try row.readIfPresent("parent"), lastUse: try row.readIfPresent("last_use")))
        }
        try stored.each(database, .enrolments) { row, stored in
            let id: String = try row.read("id")
            let account: String? = try row.readIfPresent("user")
            let provisioning: String? = try row.readIfPresent("provisioning")
            stored.state.enrolments[id] = EnrolmentRecord(
                credential: BrokerCredential(
                    tokenID: id, principal: try read(Principal(kind: .enrolment, id: id), "its id"),
                    hash: try row.read("hash"), salt: try row.read("salt")),
                creator: try principal(row.read("creator"), "its creator"), user: try account.map(user),
                devices: try texts(row.read("devices"), "its list of devices").map(deviceID),
                names: try names(row.read("names")), issued: try row.read("issued"),
                expires: try row.read("expires"), parent: try row.readIfPresent("parent"),
                provisioning: try provisioning.map {
                    try read(EnrolmentRecord.Provisioning(rawValue: $0), "what it provisions")
                })
        }
    }

    static func loadReleases(_ database: Database, into stored: inout StoredState) throws {
        try stored.each(database, .releases) { row, stored in
            let (manifest, signature): (Data, Data) = (try row.read("manifest"), try row.read("signature"))
            let id: String = try row.read("id")
            stored.state.releases[id] = try ReleaseRecord(
                id: id, signed: SignedManifest(bytes: Array(manifest), signature: Array(signature)),
                added: try row.read("added"), isComplete: try row.read("is_complete"))
        }
    }

    static func loadSessions(_ database: Database, into stored: inout StoredState) throws {
        try stored.each(database, .registrations) { row, stored in
            stored.state.registrations[try principal(row.read("principal"), "its principal")] = Registration(
                session: try row.read("session"),
                superseded: try texts(row.read("superseded"), "its list of earlier sessions"))
        }
        try stored.each(database, .calls, sql: "SELECT * FROM calls ORDER BY opened_at") { row, stored in
            let asker = LinkAddress(
                principal: try principal(row.read("asker"), "its asker"), session: try row.read("asker_session"))
            let ending: Int64 = try row.read("ending")
            stored.state.calls.set(
                OpenCall(
                    key: OpenCall.Key(device: try deviceID(row.read("device")), session: try row.read("session")),
                    user: try user(row.read("user")), asker: try read(asker, "its asker's session"),
                    needs: try actions(row.read("needs")), opened: try row.read("opened_at"),
                    ending: OpenCall.Sides(rawValue: UInt8(clamping: ending))))
        }
    }

    private static func user(_ text: String) throws -> AccessID {
        try read(AccessID(rawValue: text), "its account")
    }

    private static func names(_ text: String) throws -> [DeviceID: String] {
        let object = try read(try json(text).objectValue, "its names of devices")
        return try object.reduce(into: [:]) { names, entry in
            names[try deviceID(entry.key)] = try read(entry.value.stringValue, "its names of devices")
        }
    }

    private static func actions(_ text: String) throws -> BindingActions {
        try read(BindingActions(json: try json(text)), "its list of actions")
    }

    private static func texts(_ text: String, _ what: String) throws -> [String] {
        try read(try json(text).arrayValue, what).map { try read($0.stringValue, what) }
    }
}
