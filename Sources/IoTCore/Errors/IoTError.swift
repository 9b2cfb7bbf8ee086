/// One error: its catalogue number, the specific message, and the place in the source.
public struct IoTError: Error, Sendable, CustomStringConvertible {
    public let code: ErrorCode

    /// The message for this case; `nil`: the catalogue's message applies.
    public let detail: String?

    /// The remedy for this case, where the catalogue's does not fit. To show a remedy, use `remedy`.
    public let specificRemedy: String?

    /// The error that caused this one, if any.
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

    /// The message for the user, without the number.
    public var message: String {
        detail ?? code.message
    }

    /// What the user can do about it.
    public var remedy: String {
        specificRemedy ?? code.remedy
    }

    /// The message and the specific remedy, if any, in one line. The catalogue's remedy is left out.
    public var messageWithRemedy: String {
        [message, specificRemedy].compactMap { $0 }.joined(separator: "; ")
    }

    /// The same error with another message, which describes the wider context.
    public func withMessage(_ message: String) -> IoTError {
        IoTError(code, message, remedy: specificRemedy, underlying: underlying, file: file, line: line)
    }

    /// `8000 deviceOffline: …`, as the command line prints it after `error`.
    public var description: String {
        "\(code.rawValue) \(code.name): \(message)"
    }
}
