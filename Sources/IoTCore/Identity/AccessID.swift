/// The id of a user account: `[a-z0-9_-]{1,64}`.
public struct AccessID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible, Comparable {
    public let rawValue: String

    public init?(rawValue: String) {
        let allowed = rawValue.utf8.allSatisfy { byte in
            Hex.isDecimalDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
        guard (1...64).contains(rawValue.utf8.count), allowed else { return nil }
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    public static func < (left: AccessID, right: AccessID) -> Bool {
        left.rawValue < right.rawValue
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = AccessID(rawValue: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "an access id is [a-z0-9_-]{1,64}"))
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
