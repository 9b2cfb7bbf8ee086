/// How the messages of an open session are encrypted. A message that does not open ends the session.
enum SessionCipher: Sendable {
    case keyStream(KeyStream)
    case counter(NonceCounterCipher)

    /// `nil` when the session can encrypt no more.
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

    /// `nil` for a message that is not the next one of this session. Security 1 cannot see that by itself: its reader
    /// gets noise.
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
