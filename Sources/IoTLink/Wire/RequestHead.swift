import IoTCore

/// Finds the id of a request in a message that is refused without parsing it, in one pass over the bytes.
public enum RequestHead {
    /// Returns the message's `id` if it is an object with a `method` and a valid id, otherwise `nil`. It does not check
    /// the rest of the message, and does not decode escapes in names and ids.
    public static func id(in message: [UInt8]) -> String? {
        var scanner = JSONScanner(bytes: message)
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        var id: String?
        var hasMethod = false
        repeat {
            guard let name = scanner.takeString(), scanner.take(UInt8(ascii: ":")) else { break }
            switch name {
            case idName: id = scanner.peekString().map { String(decoding: $0, as: UTF8.self) }
            case methodName: hasMethod = true
            default: break
            }
            scanner.skipValue()
        } while scanner.take(UInt8(ascii: ","))
        return hasMethod ? id.flatMap { RequestID.isValid($0) ? $0 : nil } : nil
    }

    private static let idName = Array("id".utf8)[...]
    private static let methodName = Array("method".utf8)[...]
}
