import Dispatch
import Foundation
import GatewayAPI
import Testing

@testable import Gateway
@testable import iotvideod

@Suite struct LogFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "log-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func lines(_ name: String) throws -> [String] {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func line(_ text: String) -> LogLine {
        LogLine(t: 1_700_000_000_123, level: "info", label: "test", message: text, facts: ["a": "1"])
    }

    @Test("log.file is private, gets each line once, is opened again after a rename, and is rotated by size")
    func file() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let ring = LogRing()
        ring.append(line("before"))
        let file = LogFile(ring, on: DispatchQueue(label: "test"))
        let path = folder.path + "/log"
        file.open(path, maximumSize: 65_536)
        ring.append(line("one"))
        file.drain()
        file.flush()
        #expect(try lines("log").count == 2)
        #expect(try lines("log")[1] == "2023-11-14T22:13:20.123Z info test: one a=1")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        file.open(path, maximumSize: 65_536)
        ring.append(line("two"))
        file.flush()
        #expect(try lines("log.old").count == 2)
        #expect(try lines("log") == ["2023-11-14T22:13:20.123Z info test: two a=1"])

        for _ in 0..<30 {
            ring.append(line(String(repeating: "x", count: 4_000)))
            file.flush()
        }
        #expect(try lines("log.1").count + lines("log").count == 31)
        file.open(nil, maximumSize: 65_536)
        ring.append(line("after"))
        file.flush()
        #expect(try !lines("log").contains { $0.contains("after") })
    }
}
