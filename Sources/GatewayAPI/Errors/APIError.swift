public import IoTCore

/// A failure in the API: the number and name from the catalogue, the message, and the remedy.
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

    /// The same failure as an `IoTError`, for clients.
    public var error: IoTError {
        let code = ErrorCode(rawValue: code)
        return IoTError(code, message, remedy: remedy.isEmpty || remedy == code.remedy ? nil : remedy)
    }
}
