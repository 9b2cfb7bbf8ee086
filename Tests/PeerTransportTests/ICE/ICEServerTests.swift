import IoTCore
import Testing

@testable import PeerTransport

@Suite struct ICEServerTests {
    struct URLCase: Sendable {
        var text: String
        var host: String
        var port: Int
        var transport: RelayEndpoint.Transport
        var isTURN: Bool
    }

    @Test(
        "The URLs of RFC 7064 and RFC 7065 are parsed",
        arguments: [
            URLCase(
                text: "stun:stun.example.org", host: "stun.example.org", port: 3478, transport: .udp, isTURN: false),
            URLCase(text: "STUN:192.0.2.1:5000", host: "192.0.2.1", port: 5000, transport: .udp, isTURN: false),
            URLCase(text: "turn:[2001:db8::1]:99", host: "2001:db8::1", port: 99, transport: .udp, isTURN: true),
            URLCase(text: "turn:h?transport=udp", host: "h", port: 3478, transport: .udp, isTURN: true),
            URLCase(text: "turn:h:1?transport=tcp", host: "h", port: 1, transport: .tcp, isTURN: true),
            URLCase(text: "turns:h", host: "h", port: 5349, transport: .tls, isTURN: true),
            URLCase(text: "turns:h:443?transport=tcp", host: "h", port: 443, transport: .tls, isTURN: true),
        ])
    func reads(url: URLCase) throws {
        let parsed = try ICEServerURL(parsing: url.text)
        #expect(parsed.host == url.host)
        #expect(parsed.port == url.port)
        #expect(parsed.transport == url.transport)
        #expect(parsed.isTURN == url.isTURN)
    }

    @Test(
        "An invalid server URL throws invalidConfiguration",
        arguments: [
            "", "turn", "turn:", "http://h", "turn://h", "turn:h:0", "turn:h:99999", "turn:h:x", "turn:user@h",
            "turn:[2001:db8::1", "turn:h?transport=sctp", "turns:h?transport=udp", "stuns:h", "stun:h?transport=tcp",
            "turn: h", "turn:" + String(repeating: "h", count: 300),
        ])
    func refuses(text: String) {
        #expect { try ICEServer(urls: [text], username: "u", credential: "c") } throws: { error in
            (error as? IoTError)?.code == .invalidConfiguration
        }
    }

    @Test("A TURN server needs a credential, and a STUN server does not")
    func credentials() throws {
        #expect(throws: IoTError.self) { try ICEServer(urls: ["turn:h"]) }
        #expect(throws: IoTError.self) { try ICEServer(urls: []) }
        _ = try ICEServer(urls: ["stun:h"])
    }
}
