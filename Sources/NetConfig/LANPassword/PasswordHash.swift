import COpenSSL
import IoTCore

/// A password as a device keeps it: scrypt (RFC 7914) with a salt of its own, in the PHC string format,
/// `$scrypt$ln=14,r=8,p=1$SALT$HASH`.
struct PasswordHash: Sendable, Hashable {
    /// 16 MiB and some 50 ms of a small box's processor: the product of RFC 7914 §2 for interactive logins, which was
    /// chosen so that a camera's box with 256 MiB can pay it.
    private static let logarithmOfCost = 14
    private static let blockSize = 8
    private static let parallelization = 1
    private static let saltSize = 16
    private static let hashSize = 32
    private static let prefix = "$scrypt$ln=\(logarithmOfCost),r=\(blockSize),p=\(parallelization)$"

    private let salt: [UInt8]
    private let hash: [UInt8]

    /// - Parameter random: gives as many random bytes as it is asked for.
    /// - Returns: `nil` when there is no memory for it.
    init?(of password: String, random: @Sendable (Int) -> [UInt8]) {
        salt = random(Self.saltSize)
        guard let hash = Self.hash(password, salt) else { return nil }
        self.hash = hash
    }

    /// Reads `text`; other parameters than ours are refused, because no version wrote them.
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

    /// - Returns: `nil` when there is no memory to find it out.
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
