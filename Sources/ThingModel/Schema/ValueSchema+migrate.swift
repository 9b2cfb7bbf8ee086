import IoTCore

extension ValueSchema {
    /// Converts a value of an older schema. Valid parts are kept, member by member; the others become the default.
    /// `onDrop` is called with the path, value and reason of each value that was lost, which can be an object.
    func migrate(
        _ value: JSONValue, at path: String, onDrop: (String, JSONValue, String) -> Void
    ) -> JSONValue {
        if case .structure(_, let fields) = type, case .object(let members) = value {
            var migrated: [String: JSONValue] = [:]
            for field in fields {
                migrated[field.name] =
                    members[field.name].map { field.value.migrate($0, at: "\(path).\(field.name)", onDrop: onDrop) }
                    ?? (field.isOptional ? nil : field.value.defaultValue)
            }
            for (name, lost) in members.sorted(by: { $0.key < $1.key }) where migrated[name] == nil {
                onDrop("\(path).\(name)", lost, "the new schema has no such member")
            }
            return .object(migrated)
        }
        do {
            return try validate(value, at: path)
        } catch {
            onDrop(path, value, error.message)
            return defaultValue
        }
    }
}
