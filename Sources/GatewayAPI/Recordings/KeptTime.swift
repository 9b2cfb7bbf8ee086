/// A time range whose recordings are not removed. All times are ms since 1970.
public struct KeptTime: Codable, Hashable, Sendable {
    /// Decimal digits.
    public var id: String
    public var from: Int64
    public var to: Int64
    public var note: String

    public init(id: String, from: Int64, to: Int64, note: String) {
        self.id = id
        self.from = from
        self.to = to
        self.note = note
    }
}

/// `GET /v1/devices/{device}/recordings/kept`
public struct KeptTimeList: Codable, Hashable, Sendable {
    public var kept: [KeptTime]

    public init(kept: [KeptTime]) {
        self.kept = kept
    }
}

/// `POST /v1/devices/{device}/recordings/kept`
public struct KeptTimeRequest: APIRequestBody, Hashable {
    public static let members = ["from", "to", "note"]

    public var from: Int64
    public var to: Int64
    /// Why it is kept, for people; at most 256 bytes.
    public var note: String?

    public init(from: Int64, to: Int64, note: String? = nil) {
        self.from = from
        self.to = to
        self.note = note
    }
}
