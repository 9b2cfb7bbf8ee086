import Foundation
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import Testing

@testable import LinkHub

@Suite("A server certificate of the box's own authority")
struct OwnCertificateTests {
    @Test("It is replaced after two thirds of its 90 days, when the names change, and when the clock was set back")
    func renewal() throws {
        let directory = TemporaryDirectory()
        let start = WallClock.milliseconds() / 1_000
        let state = NIOLockedValueBox((now: start, names: ["192.0.2.7"]))
        let authority = try HubAuthority(dataDirectory: directory.path, now: start)
        let certificate = try OwnCertificate(
            authority: authority, path: directory.path + "/keys/api", clock: { state.withLockedValue { $0.now } },
            names: { state.withLockedValue { $0.names } })
        var before = ""
        func isNew() throws -> Bool {
            let text = try String(contentsOfFile: certificate.certificateFile, encoding: .utf8)
            defer { before = text }
            return text != before
        }
        #expect(try isNew())
        #expect(certificate.authorityFile == directory.path + "/keys/ca.pem")
        let mode = try FileManager.default.attributesOfItem(atPath: certificate.keyFile)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let day: Int64 = 86_400
        state.withLockedValue { $0.now = start + 60 * day - 1 }
        #expect(try !certificate.refresh() && !isNew())
        state.withLockedValue { $0.now = start + 60 * day }
        #expect(try certificate.refresh() && isNew())
        #expect(try X509Maker.notAfter(of: before) == start + 150 * day)

        state.withLockedValue { $0.names = ["192.0.2.8", "box.example"] }
        #expect(try certificate.refresh() && isNew(), "the box got another address")
        #expect(try !certificate.refresh() && !isNew())
        for host in ["192.0.2.8", "box.example"] {
            let pair = X509Maker.Pair(
                certificate: before, key: try String(contentsOfFile: certificate.keyFile, encoding: .utf8))
            let outcome = try TLSProbe.connect(
                pair, authority: authority.certificate, host: host, clock: 0)
            #expect(outcome == nil, "\(host)")
        }

        state.withLockedValue { $0.now = start - 300 * day }
        #expect(try certificate.refresh() && isNew(), "the old one is not valid yet")
    }

    @Test("The API's certificate has the same authority as the hub's, whichever is made first")
    func sharedAuthority() throws {
        let directory = TemporaryDirectory()
        let api = try OwnCertificate(apiIn: directory.path) { ["192.0.2.7"] }
        let hub = try HubAuthority(dataDirectory: directory.path, now: WallClock.milliseconds() / 1_000)
        #expect(api.authorityFingerprint == hub.certificate.fingerprint)
    }
}
