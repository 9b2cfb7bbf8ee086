/// The number of an error, the same in every interface of the product.
///
/// The numbers are from the tables of the IoT video SDK guide and the SDK's public headers. Our own are 25000–25999.
/// `ErrorCatalogue` gives each known number its name, message and remedy.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, Comparable, Codable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    public static func < (left: ErrorCode, right: ErrorCode) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The code in the response to a successful request.
    public static let success = ErrorCode(rawValue: 0)
}
