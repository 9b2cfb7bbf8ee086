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
            code: error.code.rawValue, name: error.code.name, message: error.message, remedy: error.remedy)
    }

    /// The same failure on the client's side.
    public var error: IoTError {
        let code = ErrorCode(rawValue: code)
        return IoTError(code, message, remedy: remedy.isEmpty || remedy == code.remedy ? nil : remedy)
    }
}
