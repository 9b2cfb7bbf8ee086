import Foundation
import GatewayAPI
import IoTCore
import Testing
import Yams

@testable import iotvideod

/// Every camera key, in every place where it may be used.
@Suite struct CameraKeyTests {
    private static let keys = CameraKey.all

    /// A value for each key that is not its default, as in a file and in JSON.
    private static func sample(_ key: CameraKey) -> JSONValue {
        switch key.form {
        case .text where key.name == "talk": "alsa:default"
        case .text where key.name == "certificate": .string(String(repeating: "0A:", count: 31) + "0a")
        case .text where key.name == "callers": .string("SHA256:" + String(repeating: "A", count: 43))
        case .text where key.name == "recordTimes": "mon-fri 08:00-18:00, sat 22:00-06:00"
        case .text where key.name == "motionIgnore": "0,0,30,8; 70,90,30,10"
        case .text: .string("x-" + key.name)
        case .path: .string("/etc/d/x")
        case .source: "rtsp://192.0.2.7/x"
        case .sources: "rtsp://192.0.2.7/2 /a.mp4"
        case .wholeNumber(let range): .integer(Int64(range.upperBound))
        case .choice(let names): .string(names.last ?? "")
        }
    }

    /// A value that is not allowed, in the right form if possible.
    private static func wrong(_ key: CameraKey) -> JSONValue {
        switch key.form {
        case .wholeNumber(let range): .integer(Int64(range.upperBound) + 1)
        case .choice: "neither"
        case .source, .sources: "exec:x"
        case .text, .path: .string(key.name == "name" ? "a b" : "")
        }
    }

    /// The settings that the key depends on: the required keys, and the one that it needs.
    private static func camera(with key: CameraKey) -> CameraSettings {
        let url = key.traits.onlyKind == .v4l2 ? "v4l2:/dev/video0" : "rtsps://192.0.2.1/"
        var camera = CameraSettings(name: "a", url: url)
        if let needed = key.needs.flatMap(CameraKey.named) { _ = needed.set(Self.sample(needed), &camera) }
        return camera
    }

    private static func yaml(_ camera: CameraSettings, _ change: (CameraKey, String)? = nil) -> String {
        let lines = keys.filter(\.isInFile).compactMap { key -> String? in
            if let change, change.0.name == key.name { return "  \(key.name): \(change.1)" }
            return key.get(camera).map { "  \(key.name): \($0.jsonText)" }
        }
        // `record` needs it.
        return "recording: {directory: /r}\ncameras:\n-\n" + lines.joined(separator: "\n") + "\n"
    }

    private static func parse(_ text: String) throws -> CameraSettings {
        let defaults = DefaultPaths(environment: [:], isRoot: true)
        return try #require(try Configuration.parse(text, file: "/etc/d/c.yaml", defaults: defaults).cameras.first)
    }

    @Test("Each key is read from YAML and from cameras.json", arguments: keys.filter(\.isInFile).map(\.name))
    func file(name: String) throws {
        let key = try #require(CameraKey.named(name))
        var camera = Self.camera(with: key)
        #expect(key.set(Self.sample(key), &camera))
        let read = try Self.parse(Self.yaml(camera))
        #expect(read == camera && key.get(read) == Self.sample(key))
        let stored = Array(try JSONEncoder().encode(camera))
        #expect(try JSONValue(parsing: stored)[name] == Self.sample(key))
        #expect(try JSONDecoder().decode(CameraSettings.self, from: Data(stored)) == camera)
        // A missing key has its default, also in a file of an older release.
        if !key.traits.contains(.required) {
            var members = try #require(try JSONValue(parsing: stored).objectValue)
            members[name] = nil
            let old = try APICoding.encode(JSONValue.object(members))
            key.clear(&camera)
            #expect(try JSONDecoder().decode(CameraSettings.self, from: Data(old)) == camera)
        }
    }

    @Test(
        "Each key of the API is decoded from the bodies that may contain it",
        arguments: keys.filter(\.isInAPI).map(\.name))
    func bodies(name: String) throws {
        let key = try #require(CameraKey.named(name))
        var camera = Self.camera(with: key)
        #expect(key.set(Self.sample(key), &camera))
        let request = try APICoding.encode(CameraRequest(camera))
        #expect(try JSONValue(parsing: request)[key.member] == Self.sample(key))
        #expect(try APICoding.decode(CameraRequest.self, from: request).settings == camera)
        var change = CameraSettings()
        key.take(camera, &change)
        let changed = try APICoding.encode(CameraChange(change))
        if key.part == .device {
            #expect(try JSONValue(parsing: changed)[key.member] == nil)
        } else {
            #expect(try JSONValue(parsing: changed)[key.member] == Self.sample(key))
            #expect(try APICoding.decode(CameraChange.self, from: changed).settings == change)
        }
        let test = try APICoding.encode(CameraTestRequest(camera))
        #expect((try JSONValue(parsing: test)[key.member] != nil) == (key.part == .source))
        // Secrets are never returned.
        let description = CameraDescription(
            name: "a", device: nil, url: "", state: .ready, since: 0, viewers: 0, viewerLimit: 0, settings: camera)
        let shown = try JSONValue(parsing: try APICoding.encode(description))[key.member]
        if key.traits.contains(.secret) { #expect(shown == nil) }
        if key.traits.contains(.shown) { #expect(shown == Self.sample(key)) }
    }

    @Test("A change sets only the members that it contains", arguments: keys.filter { $0.isInAPI }.map(\.name))
    func change(name: String) throws {
        let key = try #require(CameraKey.named(name))
        guard key.part != .device else { return }
        let camera = try Self.camera(with: key).checked()
        var change = CameraSettings()
        #expect(key.set(Self.sample(key), &change))
        var expected = Self.camera(with: key)
        expected.apply(change)
        #expect(try camera.applying(CameraChange(change)) == expected.checked())
    }

    @Test("An invalid value is refused with file, line, key and reason", arguments: keys.filter(\.isInFile).map(\.name))
    func wrongInFile(name: String) throws {
        let key = try #require(CameraKey.named(name))
        for text in ["[a]", Self.wrong(key).jsonText] where text != "\"\"" {
            let file = Self.yaml(Self.camera(with: key), (key, text))
            let error = #expect(throws: IoTError.self) { try Self.parse(file) }
            let message = try #require(error?.message)
            let lines = message.split(separator: "\n").filter { $0.contains(": cameras[0].\(name): ") }
            #expect(lines.count == 1 && message.hasPrefix("/etc/d/c.yaml:"), "\(message)")
            if case .wholeNumber = key.form { #expect(message.hasSuffix(key.requirement)) }
            if case .choice = key.form { #expect(message.hasSuffix(key.requirement)) }
        }
    }

    @Test("The API refuses an invalid value with the member", arguments: keys.filter(\.isInAPI).map(\.name))
    func wrongInAPI(name: String) throws {
        let key = try #require(CameraKey.named(name))
        var body = try JSONValue(parsing: try APICoding.encode(CameraRequest(Self.camera(with: key))))
        func refusal(_ value: JSONValue) -> String {
            body[key.member] = value
            do throws(IoTError) {
                let bytes = try APICoding.encode(body)
                _ = try APICoding.decode(CameraRequest.self, from: bytes).settings.checked()
                return "nothing"
            } catch {
                return "\(error.code.name) \(error.message)"
            }
        }
        #expect(refusal(["a": 1]).hasPrefix("invalidRequest \(key.member)"), "\(refusal(["a": 1]))")
        guard Self.wrong(key) != "" else { return }
        #expect(refusal(Self.wrong(key)).hasPrefix("invalidRequest \(key.member): "), "\(refusal(Self.wrong(key)))")
    }

    @Test("docs/openapi.yaml has each key in the same places as the API, with its form", arguments: keys.map(\.name))
    func document(name: String) throws {
        let key = try #require(CameraKey.named(name))
        let text = try String(contentsOf: Repository.file("docs/openapi.yaml"), encoding: .utf8)
        let schemas = try #require(try Yams.compose(yaml: text)?["components"]?["schemas"])
        func isFor(_ kind: CameraSourceKind) -> Bool {
            let only = key.needs == "username" ? .rtsp : key.traits.onlyKind
            return key.isInAPI && (only ?? kind) == kind
        }
        let places =
            [("CameraChange", key.isInAPI && key.part != .device)]
            + [("RTSP", CameraSourceKind.rtsp), ("File", .file), ("V4L2", .v4l2)].flatMap { name, kind in
                // A test reads one source, so for a file `certificate` is never allowed.
                let isInTest = isFor(kind) && key.part == .source && (key.name != "certificate" || kind == .rtsp)
                return [(name + "CameraRequest", isFor(kind)), (name + "CameraTest", isInTest)]
            }
        for (schema, isThere) in places {
            let all = try #require(schemas[schema])
            var property = all["properties"]?[key.member]
            #expect((property != nil) == isThere, "\(schema) \(key.member)")
            guard property != nil, isThere else { continue }
            if let reference = property?["$ref"]?.string {
                property = schemas[String(try #require(reference.split(separator: "/").last))]
            }
            let isRequired = all["required"]?.sequence?.contains { $0.string == key.member } ?? false
            #expect(isRequired == (key.traits.contains(.required) && schema != "CameraChange"), "\(schema) \(name)")
            #expect((property?["writeOnly"]?.bool ?? false) == key.traits.contains(.secret), "\(schema) \(name)")
            switch key.form {
            case .wholeNumber(let range):
                #expect(property?["minimum"]?.int == range.lowerBound && property?["maximum"]?.int == range.upperBound)
            case .choice(let names):
                #expect(property?["enum"]?.sequence?.map(\.string) == names)
            default: break
            }
            if schema != "CameraChange" {
                let value = property?["default"]
                let text = value?.string ?? value?.int.map { "\($0)" } ?? "none"
                #expect(text == key.defaultText, "\(schema) \(name)")
            }
        }
        // In a description, `viewers` is the number of current viewers.
        if key.traits.contains(.shown) { #expect(schemas["Camera"]?["properties"]?[key.member] != nil) }
        if key.traits.contains(.secret) { #expect(schemas["Camera"]?["properties"]?[key.member] == nil) }
    }
}
