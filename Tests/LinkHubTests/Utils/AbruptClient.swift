import Glibc
import IoTCore
import IoTLink

/// Connects with hand-made MQTT 3.1.1 packets and closes without DISCONNECT, so that the broker publishes the will
/// (§3.1.2.5). libmosquitto would send DISCONNECT.
struct AbruptClient {
    let socketPath: String
    let userName: String
    let password: String

    /// - Returns: CONNACK's return code (§3.2.2.3), 0 for accepted.
    func connectAndHangUp(will: MQTTMessage) throws -> UInt8 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var time = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let packet = connectPacket(will)
        var answer = [UInt8](repeating: 0, count: 4)
        guard connect(descriptor), send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count,
            recv(descriptor, &answer, 4, Int32(MSG_WAITALL)) == 4, answer[0] == 0x20
        else { throw IoTError(.internalFailure, "the broker did not answer") }
        return answer[3]
    }

    private func connect(_ descriptor: Int32) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private func connectPacket(_ will: MQTTMessage) -> [UInt8] {
        // User name, password, a will of QoS 1, a clean session; 60 s.
        var content = field(Array("MQTT".utf8)) + [4, 0xCE, 0, 60]
        for text in [Array(RequestID.random().utf8), Array(will.topic.utf8), will.payload] { content += field(text) }
        content += field(Array(userName.utf8)) + field(Array(password.utf8))
        var length: [UInt8] = []
        var rest = content.count
        repeat {
            length.append(UInt8(rest % 128) | (rest >= 128 ? 128 : 0))
            rest /= 128
        } while rest > 0
        return [0x10] + length + content
    }

    private func field(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }
}
