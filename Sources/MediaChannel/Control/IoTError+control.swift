import IoTCore

/// The error object of JSON-RPC 2.0 (§5.1) on the control channel: the numbers are this product's own.
extension IoTError {
    /// `nil` without a code. Without a message and a remedy, those of the code.
    init?(controlError: JSONValue) {
        guard let code = controlError["code"]?.integerValue else { return nil }
        self.init(
            ErrorCode(rawValue: Int(clamping: code)), controlError["message"]?.stringValue,
            remedy: controlError["data"]?["remedy"]?.stringValue)
    }

    var controlError: JSONValue {
        [
            "code": .integer(Int64(code.rawValue)), "message": .string(message),
            "data": ["name": .string(code.name), "remedy": .string(remedy)],
        ]
    }
}
