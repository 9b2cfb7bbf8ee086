import Foundation
import IoTCore
import Testing

@testable import iotctl

@Suite struct RemoteDaemonTests {
    private func make(_ url: String, token: String? = "secret\n", authority: String? = nil) throws -> RemoteDaemon {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        if let token { try token.write(to: file, atomically: true, encoding: .utf8) }
        return try RemoteDaemon(
            url: url, tokenFile: token.map { _ in file.path }, authorityFile: authority, environment: [:])
    }

    @Test("An address is a scheme, a host and a port, and nothing more")
    func addresses() throws {
        #expect(try make("https://box.example:8443").url == "https://box.example:8443")
        #expect(try make("https://box.example:8443/").url == "https://box.example:8443")
        for wrong in [
            "box.example", "ftp://box.example", "https://", "https://box.example/path", "https://u:p@box.example",
            "https://box.example?x=1",
        ] {
            #expect(throws: IoTError.self, "\(wrong)") { try make(wrong) }
        }
    }

    @Test("A host is stored by name and port, an IPv6 address in brackets")
    func hostAndPort() throws {
        #expect(try make("https://box.example").hostAndPort == "box.example:443")
        #expect(try make("https://[2001:db8::1]:8443").hostAndPort == "[2001:db8::1]:8443")
        #expect(try make("https://[2001:db8::1]:8443").host == "2001:db8::1")
    }

    @Test("A token is sent over a network only with encryption")
    func encrypted() throws {
        #expect(throws: IoTError.self) { try make("http://192.0.2.1:8080") }
        #expect(try make("http://127.0.0.1:8080").token == "secret")
        #expect(try make("http://[::1]:8080").token == "secret")
    }

    @Test("A missing token is an error")
    func unauthenticated() throws {
        let error = #expect(throws: IoTError.self) { try make("https://box.example", token: nil) }
        #expect(error?.code == .unauthenticated)
    }

    @Test("A time without a unit is in seconds")
    func durations() throws {
        #expect(try DurationArgument.parse("10m").seconds == 600)
        #expect(try DurationArgument.parse("30d").seconds == 2_592_000)
        #expect(try DurationArgument.parse("1.5h").seconds == 5400)
        #expect(try DurationArgument.parse("300ms").duration == .milliseconds(300))
    }
}
