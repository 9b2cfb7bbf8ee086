import IoTCore
import NIOCore

extension IPAddress {
    /// - Parameters:
    ///   - packed: 4 or 16 bytes.
    ///   - zone: The interface, appended to an IPv6 link-local address, which is ambiguous without it.
    init?(packed: [UInt8], zone: String) {
        guard let text = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: packed), port: 0).ipAddress else {
            return nil
        }
        let isLinkLocal = packed.count == 16 && packed[0] == 0xFE && packed[1] & 0xC0 == 0x80
        self.init(isLinkLocal ? "\(text)%\(zone)" : text)
    }
}
