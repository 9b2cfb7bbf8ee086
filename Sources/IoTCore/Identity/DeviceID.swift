/// A device's id: 32 random lower-case hex digits. It is made once and never changes.
public struct DeviceID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible, Comparable {
    public let rawValue: String

    /// `nil` unless `rawValue` is exactly 32 lower-case hex digits.
    public init?(rawValue: String) {
        guard rawValue.utf8.count == 32, rawValue.utf8.allSatisfy(Hex.isLowerCaseDigit) else { return nil }
        self.rawValue = rawValue
    }

    public static func random() -> DeviceID {
        DeviceID(rawValue: Hex.random(byteCount: 16))!
    }

    public var description: String { rawValue }

    public static func < (left: DeviceID, right: DeviceID) -> Bool {
        left.rawValue < right.rawValue
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = DeviceID(rawValue: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a device id is 32 lower-case hex digits"))
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
