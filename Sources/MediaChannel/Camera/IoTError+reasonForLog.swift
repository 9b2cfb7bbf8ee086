import IoTCore

extension IoTError {
    /// The reason of a failed source, without the error's own message, which contains the source's address.
    var reasonForLog: String { underlying.map { "\($0)" } ?? code.message }
}
