import Foundation
import IoTCore
import Synchronization
import Testing

@testable import IoTLink

@Suite("Enrolment strings and their exchange", .timeLimit(.minutes(1)))
struct EnrolmentTests {
    private static let authority = [UInt8](0..<32)
    private static let encoded = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    @Test(
        "A string can be parsed and written",
        arguments: [
            ("iotlink://hub.example:8883?enrol=enrol-1.s3cret&ca=\(encoded)", "hub.example", 8883),
            ("iotlink://[2001:db8::1]:1?enrol=enrol-1.s3cret&ca=\(encoded)", "2001:db8::1", 1),
        ])
    func tls(_ text: String, _ host: String, _ port: Int) throws {
        let string = try EnrolmentString(parsing: " \(text)\n")
        #expect(string.place == .tls(host: host, port: port, authority: Self.authority))
        #expect(string.id == "enrol-1")
        #expect(string.secret == "s3cret")
        #expect(string.text == text)
        #expect(!"\(string)".contains("s3cret"))
    }

    @Test("A path is percent-encoded")
    func socket() throws {
        let text = "iotlink+unix:///run/a%20b%3F%C3%A9/s?enrol=enrol-1.x"
        let string = try EnrolmentString(parsing: text)
        #expect(string.place == .unixSocket(path: "/run/a b?é/s"))
        #expect(string.text == text)
    }

    @Test(
        "A malformed string is 21100",
        arguments: [
            "", "iotlink://", "http://h:1?enrol=a.b&ca=\(encoded)", "iotlink://h?enrol=a.b&ca=\(encoded)",
            "iotlink://h:0?enrol=a.b&ca=\(encoded)", "iotlink://h:70000?enrol=a.b&ca=\(encoded)",
            "iotlink://h:1?enrol=a&ca=\(encoded)", "iotlink://h:1?enrol=a.b", "iotlink://h:1?enrol=a.b&ca=AAEC",
            "iotlink://h:1?enrol=A.b&ca=\(encoded)", "iotlink://a:b:1?enrol=a.b&ca=\(encoded)",
            "iotlink://h h:1?enrol=a.b&ca=\(encoded)", "iotlink+unix://relative?enrol=a.b",
            "iotlink+unix:///a%?enrol=a.b", "iotlink+unix:///%FF?enrol=a.b", "iotlink+unix:///a%00?enrol=a.b",
            "iotlink://h:1?enrol=.&ca=\(encoded)",
            // The configuration of the machine that joined would not accept these endpoints.
            "iotlink://my_hub:1?enrol=a.b&ca=\(encoded)", "iotlink://[fe80::1%eth0]:1?enrol=a.b&ca=\(encoded)",
            "iotlink://-h:1?enrol=a.b&ca=\(encoded)",
        ])
    func wrong(_ text: String) {
        let error = #expect(throws: IoTError.self) { try EnrolmentString(parsing: text) }
        #expect(error?.code == .provisioningTokenFailed)
        #expect(error?.remedy.contains("iotctl token create") == true)
    }

    /// Exchanges an enrolment with a broker that knows it and a hub that sends `answers`.
    private func exchange(
        _ answers: @escaping @Sendable (LinkRequest) -> [LinkReply], secret: String? = nil,
        timeout: Duration = .seconds(20)
    ) async throws -> EnrolmentGrant {
        let token = TestToken("enrol-1")
        let hubToken = TestToken("hub")
        let broker = try Broker(tokens: [token, hubToken])
        try await broker.start()
        let hub = WireHub(endpoint: broker.endpoint, token: hubToken) { _, request in answers(request) }
        try await hub.start()
        defer { hub.stop() }
        guard case .unixSocket(let path) = broker.endpoint else { throw IoTError(.internalFailure) }
        // The broker's password is a JWT, which has full stops. A string cannot hold those, so the secret is set below.
        let text = "iotlink+unix://\(path)?enrol=enrol-1.\(secret ?? "x")"
        var string = try EnrolmentString(parsing: text)
        if secret == nil { string.secret = token.text }
        return try await Enrolment.exchange(string, timeout: timeout)
    }

    private static let device = "00112233445566778899aabbccddeeff"

    @Test("The grant holds the hub's result, and there is one request")
    func grant() async throws {
        let requests = Mutex<[LinkRequest]>([])
        let grant = try await exchange { request in
            requests.withLock { $0.append(request) }
            return [
                LinkReply(
                    id: request.id,
                    result: [
                        "user": ["accessId": "bob", "token": "a.b.c", "expires": 1_800_000_000],
                        "devices": [["device": .string(Self.device), "name": "front", "token": "d.e.f"]],
                        "hub": ["name": "home"],
                    ])
            ]
        }
        #expect(grant.user?.accessID.rawValue == "bob")
        #expect(grant.user?.expires == 1_800_000_000)
        #expect(grant.devices.map(\.name) == ["front"])
        #expect(grant.hubName == "home")
        #expect(grant.certificateAuthority == nil)
        let asked = requests.withLock { $0 }
        #expect(asked.map(\.method) == ["enrol.exchange"])
    }

    @Test("A used or unknown string is 21101, from the hub and from the broker")
    func used() async throws {
        let byHub = await #expect(throws: IoTError.self) {
            try await exchange { [LinkReply(id: $0.id, error: IoTError(.provisioningTokenExpired))] }
        }
        #expect(byHub?.code == .provisioningTokenExpired)
        let byBroker = await #expect(throws: IoTError.self) { try await exchange({ _ in [] }, secret: "wrong") }
        #expect(byBroker?.code == .provisioningTokenExpired)
        #expect(byBroker?.remedy.contains("new one") == true)
    }

    @Test("A hub that does not answer is 21002; one that cannot be reached is 21025")
    func unreachable() async throws {
        let silent = await #expect(throws: IoTError.self) { try await exchange({ _ in [] }, timeout: .seconds(1)) }
        #expect(silent?.code == .messageTimeout)
        let string = try EnrolmentString(parsing: "iotlink://127.0.0.1:1?enrol=enrol-1.x&ca=\(Self.encoded)")
        let nobody = await #expect(throws: IoTError.self) {
            try await Enrolment.exchange(string, timeout: .milliseconds(700))
        }
        #expect(nobody?.code == .linkUnavailable)
        #expect(nobody?.message.contains("127.0.0.1:1") == true)
    }
}
