/// One failure: its catalogue number, what went wrong this time, and where.
public struct IoTError: Error, Sendable, CustomStringConvertible {
    public let code: ErrorCode

    /// What went wrong this time; without it the catalogue's message stands.
    public let detail: String?

    /// The failure below this one, when there is one.
    public let underlying: (any Error)?

    public let file: String
    public let line: Int

    public init(
        _ code: ErrorCode, _ detail: String? = nil, underlying: (any Error)? = nil,
        file: String = #fileID, line: Int = #line
    ) {
        self.code = code
        self.detail = detail
        self.underlying = underlying
        self.file = file
        self.line = line
    }

    /// What a user reads: what went wrong, without the number.
    public var message: String {
        detail ?? code.message
    }

    /// `8000 deviceOffline: …`, as the command line prints it behind `error`.
    public var description: String {
        "\(code.rawValue) \(code.name): \(message)"
    }
}
