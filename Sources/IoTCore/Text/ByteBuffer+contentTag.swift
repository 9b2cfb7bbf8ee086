package import NIOCore

extension ByteBuffer {
    /// The FNV-1a hash of the readable bytes in hex: other content has another tag. It does not protect from attacks.
    package var contentTag: String {
        let hash = readableBytesView.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return Hex.encode(withUnsafeBytes(of: hash.bigEndian, Array.init))
    }
}
