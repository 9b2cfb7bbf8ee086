import GRDB
import IoTCore
import IoTLink
import ThingModel

extension SQLiteHubStore {
    /// Reads everything, because the hub works from memory. Throws only if the database itself cannot be read.
    static func load(from database: Database) throws -> StoredState {
        var stored = StoredState()
        try stored.each(database, .devices) { row, stored in
            let device = try deviceID(row.read("id"))
            var record = DeviceRecord(
                name: try row.read("name"), camera: try row.readIfPresent("camera"),
                presenceSince: try row.readIfPresent("presence_since"), sharesEnded: try row.read("shares_ended"),
                grantsEnded: try row.read("grants_ended"),
                owners: try row.read("owners"))
            if let token: String = try row.readIfPresent("provisioned_with") {
                record.provisioning = .init(token: token, isAnnounced: try row.read("is_announced"))
            }
            if !DeviceName.isValid(record.name) || stored.state.names[record.name] != nil {
                // The device itself and all that belongs to it can still be used.
                record.name = "device-\(device.rawValue.prefix(12))"
                stored.note(
                    .devices, row, "its name is invalid, or another device's; it is now called \(record.name)",
                    replacement: .init(column: "name", value: record.name))
            }
            stored.state.devices[device] = record
            stored.state.names[record.name] = device
            if let camera = record.camera { stored.state.cameras[camera] = device }
        }
        try loadAccounts(database, into: &stored)
        try loadTokens(database, into: &stored)
        try loadReleases(database, into: &stored)
        try loadSessions(database, into: &stored)
        try loadModels(database, into: &stored)
        try loadRecordings(database, into: &stored)
        try loadAnswers(database, into: &stored)
        try loadEvents(database, into: &stored.state)
        return stored
    }

    private static func loadEvents(_ database: Database, into state: inout HubState) throws {
        var counts: [DeviceID: Int] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT device, count FROM event_sizes") {
            counts[try deviceID(row.read("device"))] = try row.read("count")
        }
        // The numbers of deleted events count too.
        let last = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'events'")
        state.events.restore(counts, last: last ?? 0)
    }

    private static func loadModels(_ database: Database, into stored: inout StoredState) throws {
        var properties: [DeviceID: [StoredProperty]] = [:]
        try stored.each(database, .properties) { row, _ in
            // A blob would not be found again by a text.
            guard case .string = (row["path"] as DatabaseValue).storage else {
                throw IoTError(.storeFailed, "its path is not a text")
            }
            let value: String = try row.read("value")
            let property = StoredProperty(
                path: try row.read("path"), value: try json(value), version: try row.read("version"),
                appliedVersion: try row.readIfPresent("applied"))
            properties[try deviceID(row.read("device")), default: []].append(property)
        }
        try stored.each(database, .models) { row, stored in
            let device = try deviceID(row.read("device"))
            try knows(device, stored.state)
            let version: Int64 = try row.read("version")
            var schema = ThingSchema()
            do {
                schema = try ThingSchema(vendorForm: try json(row.read("schema")))
            } catch {
                // What users wrote about the device stays. The device sends its schema at its next login.
                stored.note(
                    .models, row, "its schema is not valid: \((error as? IoTError)?.message ?? "\(error)")",
                    replacement: .init(column: "schema", value: schema.vendorForm.jsonText))
            }
            stored.state.models[device] = ThingDocument(
                schema: schema, version: version, properties: properties[device] ?? []
            ) { property, reason in
                stored.note(
                    .properties, [device.rawValue.databaseValue, property.path.databaseValue], "the path \(reason)")
            }
        }
    }

    private static func loadRecordings(_ database: Database, into stored: inout StoredState) throws {
        try stored.each(database, .recordings) { row, stored in
            let device = try deviceID(row.read("device"))
            try knows(device, stored.state)
            let summary = try json(row.read("summary"))
            stored.state.recordings[device] = RecordingRecord(
                ownership: try row.read("ownership"),
                summary: try RecordingSummary(
                    LinkMembers(summary, of: RecordingMethod.report.name, failure: .storeFailed)))
        }
    }

    private static func loadAnswers(_ database: Database, into stored: inout StoredState) throws {
        let sql = """
            SELECT number, principal, actor, request, content, answered_at, length(reply) AS size FROM
                (SELECT * FROM answers ORDER BY number DESC LIMIT ?)
            ORDER BY number
            """
        try stored.each(database, .answers, sql: sql, arguments: [AnswerIndex.longestLoad]) { row, stored in
            let principal = try principal(row.read("principal"), "its principal")
            let actor: String? = try row.readIfPresent("actor")
            let digest: Int64? = try row.readIfPresent("content")
            stored.state.answers.restore(
                AnswerIndex.Key(principal: principal, id: try row.read("request")),
                AnswerIndex.Place(number: try row.read("number"), content: digest.map(RequestContent.init(digest:))),
                of: actor.flatMap { Principal($0) } ?? principal, size: try row.read("size"),
                time: try row.read("answered_at"))
        }
    }

    static func deviceID(_ text: String) throws -> DeviceID {
        try read(DeviceID(rawValue: text), "its device id")
    }

    static func principal(_ text: String, _ what: String) throws -> Principal {
        try read(Principal(text), what)
    }

    static func read<Value>(_ value: Value?, _ what: String) throws -> Value {
        guard let value else { throw IoTError(.storeFailed, "\(what) is damaged") }
        return value
    }

    static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: text)
    }

    /// A row of a device that was set aside is set aside too.
    static func knows(_ device: DeviceID, _ state: HubState) throws {
        guard state.devices[device] != nil else { throw IoTError(.storeFailed, "there is no such device") }
    }
}
