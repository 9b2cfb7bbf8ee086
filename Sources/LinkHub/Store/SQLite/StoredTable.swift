/// The tables whose rows the hub reads when it starts.
enum StoredTable: String, Sendable {
    case users, devices, bindings, tokens, enrolments, registrations, calls, models, properties, recordings, answers
    case events
    case mediaKeys = "media_keys"
    case releases = "firmware_releases"

    /// The columns of the primary key.
    var key: [String] {
        switch self {
        case .users, .devices, .tokens, .mediaKeys, .enrolments, .releases: ["id"]
        case .bindings: ["user", "device"]
        case .registrations: ["principal"]
        case .calls: ["device", "session"]
        case .models, .recordings: ["device"]
        case .properties: ["device", "path"]
        case .answers, .events: ["number"]
        }
    }

    /// The tables with rows that belong to a row of this table, and the columns that refer to it.
    var children: [(table: StoredTable, column: String)] {
        switch self {
        case .users: [(.bindings, "user")]
        case .devices: [(.bindings, "device"), (.models, "device"), (.recordings, "device"), (.events, "device")]
        case .models: [(.properties, "device")]
        default: []
        }
    }
}
