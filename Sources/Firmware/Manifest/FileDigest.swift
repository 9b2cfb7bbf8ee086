import Crypto

/// The size and the SHA-256 of a file that is read part by part.
public struct FileDigest: Sendable {
    private var state = SHA256()
    public private(set) var size: Int64 = 0

    public init() {}

    public mutating func update(_ bytes: [UInt8]) {
        size += Int64(bytes.count)
        state.update(data: bytes)
    }

    /// Of the bytes so far: 32 bytes.
    public var hash: [UInt8] { Array(state.finalize()) }
}
