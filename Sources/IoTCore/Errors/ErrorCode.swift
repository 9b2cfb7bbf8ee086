/// A failure's number, as every user of the product sees it.
///
/// The numbers are those of the IoT video SDK guide's tables and its public headers; our own are 25000–25999.
/// `ErrorCatalogue` gives each known number its name, message and remedy.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, Comparable, Codable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    public static func < (left: ErrorCode, right: ErrorCode) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The answer code of a request that succeeded.
    public static let success = ErrorCode(rawValue: 0)
}
