import GRDB
import IoTCore
import IoTLink

/// Reads accounts, devices' relations, tokens, and what outlives a session.
extension HubStore {
    static func loadAccounts(_ database: Database, into state: inout HubState) throws {
        for row in try Row.fetchAll(database, sql: "SELECT * FROM users") {
            let device: String? = row["device"]
            state.users[try read(AccessID(rawValue: row["id"]), "users.id")] = UserRecord(
                kind: try read(AccountKind(rawValue: row["kind"]), "users.kind"), device: try device.map(deviceID),
                expires: row["expires"], created: row["created_at"])
        }
        for row in try Row.fetchAll(database, sql: "SELECT * FROM bindings") {
            state.bindings.set(
                try read(AccessID(rawValue: row["user"]), "bindings.user"), try deviceID(row["device"]),
                Binding(
                    role: try read(BindingRole(rawValue: row["role"]), "bindings.role"),
                    actions: try actions(row["actions"], "bindings.actions"), since: row["since"]))
        }
    }

    static func loadTokens(_ database: Database, into state: inout HubState) throws {
        for row in try Row.fetchAll(database, sql: "SELECT * FROM tokens") {
            let kind = try read(TokenRecord.Kind(rawValue: row["kind"]), "tokens.kind")
            let principal = try principal(row["principal"], "tokens.principal")
            let devices: String? = row["devices"]
            let allowed: String? = row["actions"]
            state.tokens.add(
                TokenRecord(
                    id: row["id"], kind: kind, principal: principal,
                    credential: kind == .link
                        ? BrokerCredential(
                            tokenID: row["id"], principal: principal, hash: row["hash"], salt: row["salt"]) : nil,
                    issued: row["issued"], expires: row["expires"], isLocal: row["is_local"],
                    scope: TokenRecord.Scope(
                        devices: try devices.map { try texts($0, "tokens.devices").map(deviceID) },
                        actions: try allowed.map { try actions($0, "tokens.actions") }), parent: row["parent"]))
        }
        for row in try Row.fetchAll(database, sql: "SELECT * FROM enrolments") {
            let id: String = row["id"]
            let user: String? = row["user"]
            state.enrolments[id] = EnrolmentRecord(
                credential: BrokerCredential(
                    tokenID: id, principal: try read(Principal(kind: .enrolment, id: id), "enrolments.id"),
                    hash: row["hash"], salt: row["salt"]),
                creator: try principal(row["creator"], "enrolments.creator"),
                user: try user.map { try read(AccessID(rawValue: $0), "enrolments.user") },
                devices: try texts(row["devices"], "enrolments.devices").map(deviceID),
                names: try names(row["names"]), issued: row["issued"], expires: row["expires"],
                parent: row["parent"])
        }
    }

    static func loadSessions(_ database: Database, into state: inout HubState) throws {
        for row in try Row.fetchAll(database, sql: "SELECT * FROM registrations") {
            state.registrations[try principal(row["principal"], "registrations.principal")] = Registration(
                session: row["session"], superseded: try texts(row["superseded"], "registrations.superseded"))
        }
        for row in try Row.fetchAll(database, sql: "SELECT * FROM calls ORDER BY opened_at") {
            let asker = LinkAddress(
                principal: try principal(row["asker"], "calls.asker"), session: row["asker_session"])
            let ending: Int64 = row["ending"]
            state.calls.set(
                OpenCall(
                    key: OpenCall.Key(device: try deviceID(row["device"]), session: row["session"]),
                    user: try read(AccessID(rawValue: row["user"]), "calls.user"),
                    asker: try read(asker, "calls.asker_session"), needs: try actions(row["needs"], "calls.needs"),
                    opened: row["opened_at"], ending: OpenCall.Sides(rawValue: UInt8(clamping: ending))))
        }
    }

    private static func principal(_ text: String, _ what: String) throws -> Principal {
        try read(Principal(text), what)
    }

    private static func names(_ text: String) throws -> [DeviceID: String] {
        let object = try read(try JSONValue(parsing: text).objectValue, "enrolments.names")
        return try object.reduce(into: [:]) { names, entry in
            names[try deviceID(entry.key)] = try read(entry.value.stringValue, "enrolments.names")
        }
    }

    private static func actions(_ text: String, _ what: String) throws -> BindingActions {
        try read(BindingActions(json: try JSONValue(parsing: text)), what)
    }

    private static func texts(_ text: String, _ what: String) throws -> [String] {
        try read(try JSONValue(parsing: text).arrayValue, what).map { try read($0.stringValue, what) }
    }
}
