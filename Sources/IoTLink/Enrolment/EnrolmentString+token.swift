public import IoTCore

/// A provisioning token: an enrolment in 32 characters, which fits into a QR code together with the hub's address.
extension EnrolmentString {
    private static let idPrefix = "enrol-"
    private static let idLength = 10
    private static let secretLength = 22

    /// The id's 10 hex digits and the secret; a secret. Valid for enrolments that `net.token` created.
    package var token: String { id.dropFirst(Self.idPrefix.count) + secret }

    /// Combines the two parts that a device received.
    ///
    /// - Parameters:
    ///   - hub: the hub's address with its authority's fingerprint; ignored if `token` is a whole enrolment string.
    ///   - token: a provisioning token.
    /// - Throws: 21100 if the token is malformed.
    public init(hub: String, token: String) throws(IoTError) {
        if token.utf8.contains(UInt8(ascii: ":")) {
            try self.init(parsing: token)
            return
        }
        let (id, secret) = try Self.credential(ofToken: token)
        guard !hub.contains("enrol=") else { throw Self.malformedToken }
        try self.init(parsing: "\(hub)\(hub.contains("?") ? "&" : "?")enrol=\(id).\(secret)")
    }

    /// The name and the password at the broker, from a token or a whole enrolment string.
    ///
    /// - Throws: 21100 if the text is neither.
    package static func credential(ofToken text: String) throws(IoTError) -> (id: String, secret: String) {
        if text.utf8.contains(UInt8(ascii: ":")) {
            let string = try EnrolmentString(parsing: text)
            return (string.id, string.secret)
        }
        let bytes = Array(text.utf8)
        let isToken =
            bytes.count == idLength + secretLength
            && bytes.prefix(idLength).allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            } && Base64URL.decode(text.dropFirst(idLength)) != nil
        guard isToken else { throw malformedToken }
        return (idPrefix + text.prefix(idLength), String(text.dropFirst(idLength)))
    }

    private static var malformedToken: IoTError {
        IoTError(
            .provisioningTokenFailed, "this is not a provisioning token, or not a hub's address with one",
            remedy: "copy the whole line that `iotctl net token` printed")
    }
}
