import COpenSSL
import IoTCore

/// The hash of a password: scrypt (RFC 7914) with a random salt. The text is in the PHC string format,
/// `$scrypt$ln=14,r=8,p=1$SALT$HASH`.
struct PasswordHash: Sendable, Hashable {
    /// With these parameters a hash needs 16 MiB and about 50 ms on a small box's processor. A camera's box with 256 MiB can
    /// afford that.
    private static let logarithmOfCost = 14
    private static let blockSize = 8
    private static let parallelization = 1
    private static let saltSize = 16
    private static let hashSize = 32
    private static let prefix = "$scrypt$ln=\(logarithmOfCost),r=\(blockSize),p=\(parallelization)$"

    private let salt: [UInt8]
    private let hash: [UInt8]

    /// - Parameter random: returns the given number of random bytes.
    /// - Returns: `nil` if there is not enough memory.
    init?(of password: String, random: @Sendable (Int) -> [UInt8]) {
        salt = random(Self.saltSize)
        guard let hash = Self.hash(password, salt) else { return nil }
        self.hash = hash
    }

    /// Parses `text`. Other scrypt parameters are refused, because no version has written them.
    init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 2, let salt = Base64.decode(parts[0]), let hash = Base64.decode(parts[1]),
            salt.count == Self.saltSize, hash.count == Self.hashSize
        else { return nil }
        self.salt = salt
        self.hash = hash
    }

    var text: String { Self.prefix + Self.unpadded(salt) + "$" + Self.unpadded(hash) }

    /// - Returns: `nil` if there is not enough memory.
    func matches(_ password: String) -> Bool? {
        Self.hash(password, salt).map { ConstantTime.equal($0, hash) }
    }

    private static func unpadded(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).prefix { $0 != "=" })
    }

    private static func hash(_ password: String, _ salt: [UInt8]) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: hashSize)
        let bytes = Array(password.utf8)
        let isMade = bytes.withUnsafeBufferPointer { bytes in
            EVP_PBE_scrypt(
                UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self), bytes.count, salt, salt.count,
                1 << UInt64(logarithmOfCost), UInt64(blockSize), UInt64(parallelization), 64 << 20, &hash, hashSize)
        }
        return isMade == 1 ? hash : nil
    }
}
