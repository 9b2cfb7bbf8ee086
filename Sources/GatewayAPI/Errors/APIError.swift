public import IoTCore

/// A failure as the API tells it: the catalogue's number and name, what went wrong this time, and what to do.
public struct APIError: Codable, Hashable, Sendable {
    public var code: Int
    public var name: String
    public var message: String
    public var remedy: String

    public init(code: Int, name: String, message: String, remedy: String) {
        self.code = code
        self.name = name
        self.message = message
        self.remedy = remedy
    }

    public init(_ error: IoTError) {
        self.init(
            code: error.code.rawValue, name: error.code.name, message: error.message, remedy: error.code.remedy)
    }

    /// The same failure on the client's side; the remedy is the catalogue's again.
    public var error: IoTError {
        IoTError(ErrorCode(rawValue: code), message)
    }
}
