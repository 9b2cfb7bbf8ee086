import Foundation
import IoTCore
import IoTLink
import Testing

@testable import iotvideod

@Suite struct JoinedBoxTests {
    private static let device = "00112233445566778899aabbccddeeff"

    private func write(_ text: String, _ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try PrivateFile.write(text, to: path)
    }

    private func configuration(_ text: String, in directory: String) throws -> Configuration {
        var configuration = try Configuration.parse(
            text, file: "/c.yaml", defaults: DefaultPaths(environment: [:], isRoot: true))
        configuration.dataDirectory = directory
        return configuration
    }

    /// The conflicting key; `nil` if there is no conflict.
    private func conflict(_ text: String, in directory: String) throws -> String? {
        let configuration = try configuration(text, in: directory)
        do throws(IoTError) {
            _ = try configuration.joinedBox()
            return nil
        } catch {
            #expect(error.code == .invalidConfiguration)
            return String(error.message.prefix { $0 != ":" })
        }
    }

    @Test("A box that has not joined runs a hub, or needs link.endpoint")
    func alone() async throws {
        try await withTemporaryDirectory { directory in
            #expect(try JoinedBox.load(dataDirectory: directory) == nil)
            #expect(try conflict("", in: directory) == nil)
            #expect(try conflict("cameras: [{name: a, url: /x}]", in: directory) == nil)
            #expect(try conflict("hub: {enabled: false}", in: directory) == "hub.enabled")
            let other = "hub: {enabled: false}\nlink: {endpoint: '127.0.0.1:1', accessId: a, tokenFile: t}\n"
            #expect(try conflict(other, in: directory) == nil)
            #expect(try conflict(other + "cameras: [{name: a, url: /x}]", in: directory) == "cameras")
            // The hub's own owner account, as the hub stores it, does not count as joined.
            try write("owner\n", directory + "/link/accessId")
            #expect(try JoinedBox.load(dataDirectory: directory) == nil)
        }
    }

    @Test("A joined box runs no hub, and its cameras must be devices that it received")
    func joined() async throws {
        try await withTemporaryDirectory { directory in
            try write("hub.example:8883\n", directory + "/link/endpoint")
            #expect(throws: IoTError.self) { try JoinedBox.load(dataDirectory: directory) }
            try write("PEM", directory + "/link/ca.pem")
            try write("gate\n", directory + "/link/accessId")
            try write(Self.device + "\n", directory + "/cameras-joined/door/device")
            let box = try #require(try JoinedBox.load(dataDirectory: directory))
            #expect(box.endpoint == .tcp(host: "hub.example", port: 8883))
            #expect(box.certificateAuthorityFile == directory + "/link/ca.pem")
            #expect(box.user?.accessId.rawValue == "gate")
            #expect(box.user?.tokenFile == directory + "/link/token")
            #expect(box.devices.mapValues(\.id.rawValue) == ["door": Self.device])

            #expect(try conflict("", in: directory) == nil)
            #expect(try conflict("hub: {enabled: false}", in: directory) == nil)
            #expect(try conflict("hub: {enabled: true}", in: directory) == "hub.enabled")
            #expect(try conflict("hub: {tls: {listen: '0.0.0.0:1'}}", in: directory) == "hub.tls.listen")
            #expect(try conflict("cameras: [{name: door, url: /x}]", in: directory) == nil)
            #expect(try conflict("cameras: [{name: gate, url: /x}]", in: directory) == "cameras")
        }
    }

    @Test("A damaged directory is refused; the remedy is to join again", arguments: ["endpoint", "accessId", "device"])
    func damaged(file: String) async throws {
        try await withTemporaryDirectory { directory in
            try write("127.0.0.1:1883", directory + "/link/endpoint")
            let path = file == "device" ? "/cameras-joined/door/device" : "/link/" + file
            try write("not this!", directory + path)
            let error = #expect(throws: IoTError.self) { try JoinedBox.load(dataDirectory: directory) }
            #expect(error?.remedy.contains("join again") == true)
        }
    }
}
