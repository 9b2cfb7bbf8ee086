import GRDB
package import IoTCore

/// The cameras that have, or had, recordings.
extension RecordingIndex {
    /// The number of a camera, which it gets with the first call and keeps.
    package func camera(named name: String) throws(IoTError) -> CameraNumber {
        if let known = try number(of: name) { return known }
        let next = try read { try Int32.fetchOne($0, sql: "SELECT coalesce(max(number), 0) + 1 FROM camera") ?? 1 }
        guard let number = CameraNumber(rawValue: next) else {
            throw IoTError(.storeFailed, "the index of recordings has no more numbers for cameras")
        }
        // If two callers are here at once, one of the commits fails, because numbers and names are unique.
        try commit([.putCamera(number, name: name)])
        return try self.number(of: name) ?? number
    }

    /// All cameras by their names.
    package func cameras() throws(IoTError) -> [String: CameraNumber] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT number, name FROM camera").reduce(into: [:]) { cameras, row in
                cameras[row[1]] = CameraNumber(rawValue: row[0])
            }
        }
    }

    /// The number of the camera's owner; `nil` until it is known.
    package func ownership(of camera: CameraNumber) throws(IoTError) -> Int64? {
        try read { database in
            try Int64.fetchOne(
                database, sql: "SELECT ownership FROM camera WHERE number = ?", arguments: [camera.rawValue])
        }
    }

    /// The camera's recording plan as it was stored last.
    package func plan(of camera: CameraNumber) throws(IoTError) -> JSONValue? {
        try read { database in
            try String.fetchOne(database, sql: "SELECT plan FROM camera WHERE number = ?", arguments: [camera.rawValue])
        }.flatMap { try? JSONValue(parsing: $0) }
    }

    /// Whether the camera's owner may see a segment, also one that does not exist yet.
    package func isVisible(_ id: SegmentID) throws(IoTError) -> Bool {
        try read { database in
            try Int64.fetchOne(
                database, sql: "SELECT first_visible FROM camera WHERE number = ?", arguments: [id.camera.rawValue]
            ).map { $0 <= id.rawValue } ?? true
        }
    }

    /// `nil` for a camera that was never recorded.
    package func number(of name: String) throws(IoTError) -> CameraNumber? {
        try read { database in
            try Int32.fetchOne(database, sql: "SELECT number FROM camera WHERE name = ?", arguments: [name])
                .flatMap { CameraNumber(rawValue: $0) }
        }
    }
}
