public import IoTCore

/// A path in a thing model: `Class.Object.Attribute…`, at any depth; `""` is the whole model.
///
/// Names are case-sensitive and may contain any character but `.`.
public struct PropertyPath: Hashable, Sendable, CustomStringConvertible {
    /// The longest path, in bytes.
    public static let maximumLength = 1024

    /// `nil` for the whole model.
    public let propertyClass: PropertyClass?

    /// `nil` for a whole class.
    public let object: String?

    /// The names after the object: the attribute, then the members of its value.
    public let members: [String]

    /// The path of one object: `ProWritable._logLevel`.
    public init(_ propertyClass: PropertyClass, _ object: String, _ members: [String] = []) {
        self.propertyClass = propertyClass
        self.object = object
        self.members = members
    }

    /// Throws `pathInvalid` for an unknown class, an empty name, or a path that is too long.
    public init(parsing text: String) throws(IoTError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw IoTError(
                .pathInvalid, "the path has \(text.utf8.count) bytes; at most \(Self.maximumLength) are allowed",
                remedy: "read a shorter path, and select the member from its value")
        }
        guard !text.isEmpty else {
            propertyClass = nil
            object = nil
            members = []
            return
        }
        // Splits bytes: as a `Character`, a '.' with a combining mark would not be recognized.
        let names = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard !names.contains("") else {
            throw IoTError(
                .pathInvalid, "the path '\(text)' contains an empty name", remedy: "separate the names by single dots")
        }
        propertyClass = try Self.readClass(names[0])
        object = names.count > 1 ? names[1] : nil
        members = Array(names.dropFirst(2))
    }

    private static func readClass(_ name: String) throws(IoTError) -> PropertyClass {
        if let exact = PropertyClass(rawValue: name) { return exact }
        let near = PropertyClass.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
        let known = PropertyClass.allCases.map(\.rawValue).joined(separator: ", ")
        throw IoTError(
            .pathInvalid,
            "there is no class '\(name)'; \(near.map { "did you mean \($0.rawValue)?" } ?? "the classes are \(known)")",
            remedy: "begin the path with a class")
    }

    public var description: String {
        ([propertyClass?.rawValue, object].compactMap { $0 } + members).joined(separator: ".")
    }

    /// The first two names, `ProWritable._logLevel`; `nil` for a class or the whole model.
    public var objectPath: String? {
        guard let propertyClass, let object else { return nil }
        return "\(propertyClass.rawValue).\(object)"
    }
}
