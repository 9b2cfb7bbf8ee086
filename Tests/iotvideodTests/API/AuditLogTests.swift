import Foundation
import IoTCore
import Logging
import NIOCore
import Synchronization
import Testing

@testable import iotvideod

@Suite struct AuditLogTests {
    private func lines(_ path: String) throws -> [JSONValue] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))
        }
    }

    @Test("Changes and refusals are written with the caller; reads, secrets and bodies are not")
    func entries() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/audit.log"
            let fixture = RouterFixture(audit: AuditLog(directory: directory, logger: Logger(label: "test")))
            let secret = #"{"name":"a","url":"rtsp://h/","username":"u","password":"hunter2"}"#
            _ = try await fixture.ask("POST", "/v1/cameras", token: RouterFixture.administrator, body: secret)
            _ = try await fixture.ask("GET", "/v1/status", token: RouterFixture.administrator)
            _ = try await fixture.ask("GET", "/v1/users", token: RouterFixture.member)
            _ = try await fixture.ask("GET", "/v1/status?token=abc")
            _ = try await fixture.ask("GET", "/nowhere")
            let all = try lines(path) + lines(directory + "/audit-refused.log")
            #expect(all.map { $0["status"]?.integerValue } == [201, 403, 401])
            #expect(all.map { $0["code"]?.integerValue } == [0, 25005, 25004])
            #expect(all.map { $0["path"]?.stringValue } == ["/v1/cameras", "/v1/users", "/v1/status"])
            #expect(all[0]["who"] == ["account": "owner", "token": "1"])
            #expect(all[1]["who"] == ["account": "guest", "token": "2"])
            #expect(all[2]["who"] == .null)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            for word in ["hunter2", "rtsp", RouterFixture.administrator, "abc"] { #expect(!text.contains(word)) }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("The file has a maximum size, and one older file is kept")
    func rotation() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/audit.log"
            let log = AuditLog(directory: directory, maximumSize: 1000, logger: Logger(label: "test"))
            let entry = AuditLog.Entry(
                t: 1, caller: nil, remote: nil, method: "PUT", path: "/v1/x", status: 200, code: 0)
            for _ in 0..<100 { log.write(entry) }
            let sizes = try ["", ".1"].map { suffix in
                try #require(
                    try FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int)
            }
            #expect(sizes.allSatisfy { (1...1000).contains($0) })
            #expect(!FileManager.default.fileExists(atPath: path + ".2"))
        }
    }

    @Test("Refusals never displace changes, and omitted ones are counted")
    func refusals() async throws {
        try await withTemporaryDirectory { directory in
            let now = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000_000))
            let log = AuditLog(
                directory: directory, maximumSize: 2000, now: { now.withLock { $0 } }, logger: Logger(label: "test"))
            func write(_ status: Int) {
                log.write(
                    AuditLog.Entry(
                        t: 1, caller: nil, remote: "192.0.2.1", method: "PUT", path: "/v1/x", status: status, code: 0))
            }
            write(200)
            for _ in 0..<1000 { write(401) }
            now.withLock { $0 = $0 + .seconds(1) }
            write(403)
            #expect(try lines(directory + "/audit.log").count == 1)
            let refused = try lines(directory + "/audit-refused.log")
            #expect(refused.count == AuditLog.refusalsPerSecond + 1)
            #expect(refused.last?["left"] == 990)
            for _ in 0..<100 {
                now.withLock { $0 = $0 + .seconds(1) }
                write(401)
            }
            #expect(try lines(directory + "/audit.log").count == 1)
            #expect(FileManager.default.fileExists(atPath: directory + "/audit-refused.log.1"))
        }
    }

    @Test("After a reload the lines go into a new file, if another program has renamed the old one")
    func renamed() async throws {
        try await withTemporaryDirectory { directory in
            let log = AuditLog(directory: directory, maximumSize: 250, logger: Logger(label: "test"))
            func write(_ status: Int) {
                log.write(
                    AuditLog.Entry(t: 1, caller: nil, remote: nil, method: "PUT", path: "/", status: status, code: 0))
            }
            let names = ["/audit.log", "/audit-refused.log"].map { directory + $0 }
            for round in 1...2 {
                for status in [200, 401] { for _ in 0..<2 { write(status) } }
                for name in names { try FileManager.default.moveItem(atPath: name, toPath: "\(name).old\(round)") }
                // Without the reload, the lines still go into the renamed file.
                if round == 1 { [200, 401].forEach(write) }
                log.reopen()
            }
            [200, 401].forEach(write)
            for name in names {
                #expect(try lines(name + ".old1").count == 3)
                #expect(try lines(name + ".old2").count == 2)
                #expect(try lines(name).count == 1)
                // The new file begins with no size, so that its first line does not rename it.
                #expect(!FileManager.default.fileExists(atPath: name + ".1"))
            }
        }
    }

    @Test("A symbolic link in place of the file is not followed")
    func link() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/audit.log"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory + "/other")
            let log = AuditLog(directory: directory, logger: Logger(label: "test"))
            log.write(AuditLog.Entry(t: 1, caller: nil, remote: nil, method: "PUT", path: "/", status: 200, code: 0))
            #expect(!FileManager.default.fileExists(atPath: directory + "/other"))
        }
    }
}
