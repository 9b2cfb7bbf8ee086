import Foundation
import GRDB
import IoTCore
import IoTLink
import ThingModel

extension HubStore {
    /// Reads everything: the hub works from memory.
    static func load(from database: Database) throws -> HubState {
        var state = HubState()
        for row in try Row.fetchAll(database, sql: "SELECT id, name, presence_since, camera, shares_ended FROM devices")
        {
            let device = try deviceID(row["id"])
            let record = DeviceRecord(
                name: row["name"], camera: row["camera"], presenceSince: row["presence_since"],
                sharesEnded: row["shares_ended"])
            state.devices[device] = record
            state.names[record.name] = device
            if let camera = record.camera { state.cameras[camera] = device }
        }
        try loadAccounts(database, into: &state)
        try loadTokens(database, into: &state)
        try loadSessions(database, into: &state)
        try loadModels(database, into: &state)
        try loadAnswers(database, into: &state)
        try loadEvents(database, into: &state)
        return state
    }

    private static func loadModels(_ database: Database, into state: inout HubState) throws {
        var properties: [String: [StoredProperty]] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT device, path, value, version, applied FROM properties")
        while let row = try rows.next() {
            let value: String = row["value"]
            let property = StoredProperty(
                path: row["path"], value: try JSONValue(parsing: value), version: row["version"],
                appliedVersion: row["applied"])
            properties[row["device"], default: []].append(property)
        }
        for row in try Row.fetchAll(database, sql: "SELECT device, schema, version FROM models") {
            let device: String = row["device"]
            let schema: String = row["schema"]
            let form = try JSONValue(parsing: schema)
            state.models[try deviceID(device)] = try ThingDocument(
                schema: ThingSchema(vendorForm: form), version: row["version"], properties: properties[device] ?? [])
        }
    }

    private static func loadAnswers(_ database: Database, into state: inout HubState) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT number, principal, request, content, answered_at FROM
                    (SELECT number, principal, request, content, answered_at FROM answers ORDER BY number DESC LIMIT ?)
                ORDER BY number
                """, arguments: [state.answers.capacity])
        while let row = try rows.next() {
            let principal: String = row["principal"]
            let key = AnswerIndex.Key(
                principal: try read(Principal(principal), "answers.principal"), id: row["request"])
            let digest: Int64? = row["content"]
            let place = AnswerIndex.Place(number: row["number"], content: digest.map(RequestContent.init(digest:)))
            state.answers.restore(key, place, time: row["answered_at"])
        }
    }

    static func deviceID(_ text: String) throws -> DeviceID {
        try read(DeviceID(rawValue: text), "a device id")
    }

    static func read<Value>(_ value: Value?, _ what: String) throws -> Value {
        guard let value else { throw IoTError(.storeFailed, "hub.sqlite is damaged: \(what)") }
        return value
    }
}

extension [UInt8] {
    static func fetchAnswer(_ database: Database, _ number: Int64) throws -> [UInt8]? {
        try Data.fetchOne(database, sql: "SELECT reply FROM answers WHERE number = ?", arguments: [number])
            .map { Array($0) }
    }
}
