extension CameraSettings {
    /// Reads members of the API's JSON. A null counts as absent.
    ///
    /// - Parameter isWhole: whether the required members must be present.
    package init(from decoder: any Decoder, members keys: [CameraKey], isWhole: Bool) throws {
        self.init()
        let container = try decoder.container(keyedBy: CameraKeyName.self)
        for key in keys { try read(key, CameraKeyName(key.member), from: container, isWhole: isWhole) }
    }

    /// Writes the given values as members of the API's JSON.
    package func encode(to encoder: any Encoder, members keys: [CameraKey]) throws {
        var container = encoder.container(keyedBy: CameraKeyName.self)
        for key in keys { try container.encodeIfPresent(key.get(self), forKey: CameraKeyName(key.member)) }
    }

    private mutating func read(
        _ key: CameraKey, _ name: CameraKeyName, from container: KeyedDecodingContainer<CameraKeyName>, isWhole: Bool
    ) throws {
        guard let value = try container.decodeIfPresent(JSONValue.self, forKey: name) else {
            guard isWhole, key.traits.contains(.required) else { return }
            throw DecodingError.keyNotFound(
                name, DecodingError.Context(codingPath: container.codingPath, debugDescription: "is required"))
        }
        guard key.set(value, &self) else { throw key.mismatch(at: container.codingPath + [name]) }
    }
}

/// The form in `cameras.json`: the names of the configuration file, with defaults written out.
extension CameraSettings: Codable {
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CameraKeyName.self)
        for key in CameraKey.all where key.isInFile {
            try read(key, CameraKeyName(key.name), from: container, isWhole: true)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CameraKeyName.self)
        for key in CameraKey.all where key.isInFile {
            try container.encodeIfPresent(key.get(self) ?? key.defaultValue, forKey: CameraKeyName(key.name))
        }
    }
}

extension CameraKey {
    fileprivate func mismatch(at path: [any CodingKey]) -> DecodingError {
        let context = DecodingError.Context(codingPath: path, debugDescription: requirement)
        return switch form {
        case .text, .path, .source, .sources: .typeMismatch(String.self, context)
        case .wholeNumber: .typeMismatch(Int.self, context)
        case .choice: .dataCorrupted(context)
        }
    }
}

/// The name of a member of a camera's JSON.
package struct CameraKeyName: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ name: String) { stringValue = name }
    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { nil }
}
