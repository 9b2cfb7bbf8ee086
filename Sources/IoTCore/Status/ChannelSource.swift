/// What a channel carries from a device: the picture of one of its cameras, or of the caller of its live call.
///
/// In JSON a number from 0 to 255, or the text `caller`.
public enum ChannelSource: Hashable, Sendable, CustomStringConvertible {
    /// The number of the camera; 0 for a device with one camera.
    case camera(UInt8)
    /// Who is in a live call with the device. The device's owner may watch it.
    case caller

    public static let main = ChannelSource.camera(0)

    /// `nil` for a text with another form.
    public init?(_ text: String) {
        if text == Self.callerName {
            self = .caller
        } else if let number = UInt8(text), "\(number)" == text {
            self = .camera(number)
        } else {
            return nil
        }
    }

    /// `nil` for a value with another form.
    package init?(_ json: JSONValue) {
        if let number = json.integerValue.flatMap(UInt8.init(exactly:)) {
            self = .camera(number)
        } else if json == .string(Self.callerName) {
            self = .caller
        } else {
            return nil
        }
    }

    package static let requirement = "must be a number from 0 to 255, or \(callerName)"
    private static let callerName = "caller"

    package var json: JSONValue {
        switch self {
        case .camera(let number): .integer(Int64(number))
        case .caller: .string(Self.callerName)
        }
    }

    public var description: String {
        switch self {
        case .camera(let number): "\(number)"
        case .caller: Self.callerName
        }
    }
}

extension ChannelSource: Codable {
    public init(from decoder: any Decoder) throws {
        guard let source = ChannelSource(try JSONValue(from: decoder)) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: Self.requirement))
        }
        self = source
    }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
