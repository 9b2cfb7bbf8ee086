import Foundation
import IoTCore
import Testing

@testable import IoTLink

@Suite("Access tokens and their files")
struct LinkTokenTests {
    private func withFile(_ text: String, mode: Int, _ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(RequestID.random()).path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try body(path)
    }

    @Test("Reads the token without surrounding white space", arguments: [0o600, 0o400])
    func read(_ mode: Int) throws {
        try withFile("  abc.def.ghi\n\n", mode: mode) { path in
            let token = try LinkToken.file(path: path).read()
            #expect(token == "abc.def.ghi")
        }
    }

    @Test("Refuses a file that others may read or write, with a remedy", arguments: [0o640, 0o604, 0o620, 0o644])
    func readable(_ mode: Int) throws {
        // The file name is hexadecimal, so that it cannot contain this word.
        try withFile("secret", mode: mode) { path in
            let error = #expect(throws: IoTError.self) { try LinkToken.file(path: path).read() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.remedy.contains("chmod 600 \(path)") == true)
            #expect(error?.message.contains("secret") == false)
        }
    }

    @Test("Refuses an empty or oversized file", arguments: ["", " \n", String(repeating: "a", count: 20_000)])
    func contents(_ text: String) throws {
        try withFile(text, mode: 0o600) { path in
            let error = #expect(throws: IoTError.self) { try LinkToken.file(path: path).read() }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test("A missing file and a directory are fileFailed")
    func missing() {
        for path in ["/nonexistent/token", "/"] {
            let error = #expect(throws: IoTError.self) { try LinkToken.file(path: path).read() }
            #expect(error?.code == .fileFailed)
        }
    }

    @Test("Finds the id and the expiry of a JWT")
    func claims() throws {
        // The payload of RFC 7519 §3.1's example has no jti; this one is {"jti":"t-1","exp":1700000000}.
        let claims = try TokenClaims(parsing: "e30.eyJqdGkiOiJ0LTEiLCJleHAiOjE3MDAwMDAwMDB9.c2ln")
        #expect(claims.id == "t-1")
        #expect(claims.expires == 1_700_000_000)
        let rfc =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0d"
            + "HA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        for token in [rfc, "", "a.b", "a.b.c", "..", "e30.e30.e30", "e30.*.e30"] {
            let error = #expect(throws: IoTError.self) { try TokenClaims(parsing: token) }
            #expect(error?.code == .tokenRejected)
        }
    }

    @Test("Base64url decodes the vectors of RFC 4648 §10, without padding")
    func base64() {
        for (text, plain) in [("", ""), ("Zg", "f"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            #expect(Base64URL.decode(text) == Array(plain.utf8))
        }
        #expect(Base64URL.decode("-_8") == [0xFB, 0xFF])
        for text in ["Z", "Zg==", "Zm9vY", "+/8", "Zm 9"] { #expect(Base64URL.decode(text) == nil) }
    }

    @Test("A token is not printed")
    func secrecy() {
        #expect("\(LinkToken.value("secret"))" == "token")
        #expect(!"\(MQTTCredentials(userName: "t", password: "secret"))".contains("secret"))
    }
}
