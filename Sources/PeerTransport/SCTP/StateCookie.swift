import COpenSSL
import NIOCore

/// The cookie that INIT ACK carries and COOKIE ECHO returns (RFC 9260 §5.1.3). It contains all parameters of the
/// association under a keyed hash, so that an INIT alone allocates no state.
struct StateCookie: Equatable {
    var localTag: UInt32
    var localTSN: UInt32
    var peerTag: UInt32
    var peerTSN: UInt32
    var peerWindow: UInt32
    var peerOutgoingStreams: UInt16
    var peerIncomingStreams: UInt16
    var peerSupportsForwardTSN: Bool
    var peerSupportsReconfiguration: Bool

    /// The tags of the existing association when the cookie was made; zero for none (§5.2.2).
    var tieTagLocal: UInt32 = 0
    var tieTagPeer: UInt32 = 0

    /// The time by our clock.
    var createdAt: NIODeadline

    private static let hashSize = 32
    private static let contentSize = 28 + 4 + 1 + 8
    static let byteCount = contentSize + hashSize

    func seal(key: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(localTag, localTSN, peerTag, peerTSN, peerWindow, tieTagLocal, tieTagPeer)
        buffer.writeMultipleIntegers(
            peerOutgoingStreams, peerIncomingStreams,
            UInt8((peerSupportsForwardTSN ? 1 : 0) | (peerSupportsReconfiguration ? 2 : 0)),
            createdAt.uptimeNanoseconds)
        buffer.writeBytes(Self.hash(of: Array(buffer.readableBytesView), key: key))
        return buffer
    }

    /// Returns `nil` for a cookie that was not sealed with this key.
    init?(opening cookie: ByteBuffer, key: [UInt8]) {
        var buffer = cookie
        guard cookie.readableBytes == Self.byteCount, let content = buffer.readBytes(length: Self.contentSize)
        else { return nil }
        let hash = Array(buffer.readableBytesView)
        guard CRYPTO_memcmp(hash, Self.hash(of: content, key: key), Self.hashSize) == 0 else { return nil }
        var reader = ByteBuffer(bytes: content)
        guard
            let (localTag, localTSN, peerTag, peerTSN, peerWindow, tieLocal, tiePeer) = reader.readMultipleIntegers(
                as: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32).self),
            let (outgoing, incoming, flags, created) = reader.readMultipleIntegers(
                as: (UInt16, UInt16, UInt8, UInt64).self)
        else { return nil }
        self.init(
            localTag: localTag, localTSN: localTSN, peerTag: peerTag, peerTSN: peerTSN, peerWindow: peerWindow,
            peerOutgoingStreams: outgoing, peerIncomingStreams: incoming, peerSupportsForwardTSN: flags & 1 != 0,
            peerSupportsReconfiguration: flags & 2 != 0, tieTagLocal: tieLocal, tieTagPeer: tiePeer,
            createdAt: .uptimeNanoseconds(created))
    }

    init(
        localTag: UInt32, localTSN: UInt32, peerTag: UInt32, peerTSN: UInt32, peerWindow: UInt32,
        peerOutgoingStreams: UInt16, peerIncomingStreams: UInt16, peerSupportsForwardTSN: Bool,
        peerSupportsReconfiguration: Bool, tieTagLocal: UInt32 = 0, tieTagPeer: UInt32 = 0, createdAt: NIODeadline
    ) {
        self.localTag = localTag
        self.localTSN = localTSN
        self.peerTag = peerTag
        self.peerTSN = peerTSN
        self.peerWindow = peerWindow
        self.peerOutgoingStreams = peerOutgoingStreams
        self.peerIncomingStreams = peerIncomingStreams
        self.peerSupportsForwardTSN = peerSupportsForwardTSN
        self.peerSupportsReconfiguration = peerSupportsReconfiguration
        self.tieTagLocal = tieTagLocal
        self.tieTagPeer = tieTagPeer
        self.createdAt = createdAt
    }

    private static func hash(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, &length)
        return Array(code.prefix(hashSize))
    }
}
