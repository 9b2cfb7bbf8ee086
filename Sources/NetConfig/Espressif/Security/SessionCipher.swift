/// The encryption of an open session. A message that cannot be decrypted ends the session.
enum SessionCipher: Sendable {
    case keyStream(KeyStream)
    case counter(NonceCounterCipher)

    /// `nil` if the session cannot encrypt any more messages.
    mutating func seal(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .keyStream(var stream):
            defer { self = .keyStream(stream) }
            return stream.apply(bytes)
        case .counter(var cipher):
            defer { self = .counter(cipher) }
            return cipher.seal(bytes)
        }
    }

    /// `nil` if the message is not the session's next one. Security 1 cannot detect that: the result is noise.
    mutating func open(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .keyStream(var stream):
            defer { self = .keyStream(stream) }
            return stream.apply(bytes)
        case .counter(var cipher):
            defer { self = .counter(cipher) }
            return cipher.open(bytes)
        }
    }
}
