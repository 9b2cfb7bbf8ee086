import Foundation
import IoTCore
import Testing

@testable import iotctl

@Suite struct KnownHostsTests {
    private let certificate = TrustedCertificate(kind: .authority, der: [0x30, 0x03, 1, 2, 3])

    @Test("The file keeps trusted certificates; comments and empty lines are skipped")
    func text() throws {
        var known = try KnownHosts()
        known["[2001:db8::1]:8443"] = certificate
        known["box.example:443"] = TrustedCertificate(kind: .certificate, der: [1])
        #expect(try KnownHosts(parsing: "# mine\n\n" + known.text) == known)
        #expect(known.text.contains("\nbox.example:443 certificate 4B:F5:12:2F:34:45:54:C5:3B:DE:2E:BB:8C:D2:B7:E3"))
    }

    @Test(
        "A damaged line is refused with its number, so that a host does not silently become unknown",
        arguments: ["box:1", "box:1 authority AA MAM=", "box:1 other AA AQ==", "box:1 certificate AA !!"])
    func damaged(line: String) {
        let error = #expect(throws: IoTError.self) { try KnownHosts(parsing: "#\n\(line)\n", name: "known_hosts") }
        #expect(error?.message == "known_hosts line 2 is damaged")
    }

    @Test("Only the owner may read the file; it is replaced in one step and created with its folders")
    func file() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = KnownHosts.path(environment: ["XDG_STATE_HOME": folder.path])
        #expect(try KnownHosts.load(path).entries.isEmpty)
        var known = try KnownHosts()
        known["box:1"] = certificate
        try await known.save(path)
        #expect(try KnownHosts.load(path) == known)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/iotctl") == ["known_hosts"])
    }

    @Test("A relative state directory is not used (XDG Base Directory Specification)")
    func path() {
        let path = KnownHosts.path(environment: ["XDG_STATE_HOME": "state"])
        #expect(path == NSHomeDirectory() + "/.local/state/iotctl/known_hosts")
    }
}
