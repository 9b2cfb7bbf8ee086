/// One failure: its catalogue number, what went wrong this time, and where.
public struct IoTError: Error, Sendable, CustomStringConvertible {
    public let code: ErrorCode

    /// What went wrong this time; without it the catalogue's message stands.
    public let detail: String?

    /// What to do about it this time, where the catalogue's remedy does not fit; `remedy` has what counts.
    public let specificRemedy: String?

    /// The failure below this one, when there is one.
    public let underlying: (any Error)?

    public let file: String
    public let line: Int

    public init(
        _ code: ErrorCode, _ detail: String? = nil, remedy: String? = nil, underlying: (any Error)? = nil,
        file: String = #fileID, line: Int = #line
    ) {
        self.code = code
        self.detail = detail
        specificRemedy = remedy
        self.underlying = underlying
        self.file = file
        self.line = line
    }

    /// What a user reads: what went wrong, without the number.
    public var message: String {
        detail ?? code.message
    }

    /// What a user may do about it.
    public var remedy: String {
        specificRemedy ?? code.remedy
    }

    /// Both, where one line is shown and the catalogue's remedy would not help.
    public var messageWithRemedy: String {
        [message, specificRemedy].compactMap { $0 }.joined(separator: "; ")
    }

    /// The same failure, told in a wider context.
    public func withMessage(_ message: String) -> IoTError {
        IoTError(code, message, remedy: specificRemedy, underlying: underlying, file: file, line: line)
    }

    /// `8000 deviceOffline: …`, as the command line prints it behind `error`.
    public var description: String {
        "\(code.rawValue) \(code.name): \(message)"
    }
}
