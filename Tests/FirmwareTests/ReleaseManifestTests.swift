import Firmware
import IoTCore
import Testing

@Suite struct ReleaseManifestTests {
    static func version(_ text: String) throws -> FirmwareVersion { try #require(FirmwareVersion(text)) }

    static func manifest(
        _ version: String, from: [String] = [], downgrade: Bool = false, model: String = "box"
    ) throws -> ReleaseManifest {
        try ReleaseManifest(
            model: model, version: try Self.version(version), size: 8, hash: Array(repeating: 1, count: 32),
            from: try from.map { try #require(VersionPattern($0)) }, isDowngrade: downgrade)
    }

    @Test(
        "A malformed member is refused, whoever signed it",
        arguments: [
            #"{"model":""}"#, #"{"model":"a\u0000b"}"#, #"{"model":" a"}"#, #"{"model":1}"#, #"{"version":"1.2"}"#,
            #"{"version":null}"#, #"{"size":0}"#, #"{"size":-8}"#, #"{"size":"8"}"#, #"{"size":1.5}"#,
            #"{"sha256":"c3"}"#, #"{"sha256":7}"#, #"{"from":"0.1.*"}"#, #"{"from":["x"]}"#, #"{"from":[1]}"#,
            #"{"descriptions":["a"]}"#, #"{"descriptions":{"en":7}}"#, #"{"descriptions":{"e":"a"}}"#,
            #"{"descriptions":{"en":""}}"#, #"{"descriptions":{"en":"a\u001b[2J"}}"#,
            #"{"descriptions":{"en":"a","EN":"b"}}"#, #"{"downgrade":1}"#, #"{"downgrade":true,"from":[]}"#,
        ])
    func malformed(change: String) throws {
        var members = try #require(try JSONValue(parsing: GoldenRelease.manifest).objectValue)
        for (name, value) in try #require(try JSONValue(parsing: change).objectValue) { members[name] = value }
        let text = JSONValue.object(members).jsonText
        #expect(code { _ = try ReleaseManifest(text: Array(text.utf8)) } == .releaseManifestInvalid)
    }

    @Test("A member of a newer format is ignored, and too long a manifest refused")
    func limits() throws {
        var json = try JSONValue(parsing: GoldenRelease.manifest)
        json["later"] = 7
        #expect(try ReleaseManifest(text: Array(json.jsonText.utf8)).size == 8)
        json["later"] = .string(String(repeating: "a", count: ReleaseManifest.maximumBytes))
        #expect(code { _ = try ReleaseManifest(text: Array(json.jsonText.utf8)) } == .releaseManifestInvalid)
    }

    @Test("A release is refused for another model and for a version that it is not for")
    func target() throws {
        let cases: [(ReleaseManifest, String, ErrorCode?)] = [
            (try Self.manifest("0.2.0"), "0.1.0", nil),
            (try Self.manifest("0.2.0"), "0.2.0-rc.1", nil),
            (try Self.manifest("0.2.0"), "0.2.0", .releaseVersionRefused),
            (try Self.manifest("0.2.0"), "0.3.0", .releaseVersionRefused),
            (try Self.manifest("0.2.0", from: ["0.3.*"]), "0.3.0", .releaseVersionRefused),
            (try Self.manifest("0.2.0", from: ["0.3.*"], downgrade: true), "0.3.0", nil),
            (try Self.manifest("0.2.0", from: ["0.3.*"], downgrade: true), "0.4.0", .releaseVersionRefused),
            (try Self.manifest("0.2.0", from: ["0.1.*"]), "0.1.7", nil),
            (try Self.manifest("0.2.0", from: ["0.1.*"]), "0.0.7", .releaseVersionRefused),
            (try Self.manifest("0.2.0", model: "other"), "0.1.0", .releaseModelDiffers),
        ]
        for (manifest, installed, expected) in cases {
            let target = FirmwareTarget(model: "box", version: try Self.version(installed))
            #expect(code { try manifest.check(for: target) } == expected, "\(manifest.text) on \(installed)")
        }
        let unknown = FirmwareTarget(model: "box", version: nil)
        #expect(code { try Self.manifest("0.2.0").check(for: unknown) } == nil)
        #expect(code { try Self.manifest("0.2.0", from: ["0.1.*"]).check(for: unknown) } == .releaseVersionRefused)
    }

    @Test("A file of another size or content is refused")
    func file() throws {
        let manifest = try ReleaseManifest(text: Array(GoldenRelease.manifest.utf8))
        func check(_ chunks: [[UInt8]]) -> ErrorCode? {
            code {
                var check = ReleaseFileCheck(manifest)
                for chunk in chunks { try check.update(chunk) }
                try check.finish()
            }
        }
        let file = GoldenRelease.file
        #expect(check([file]) == nil)
        #expect(check(file.map { [$0] }) == nil)
        #expect(check([Array(file.dropLast())]) == .releaseFileDiffers)
        #expect(check([file, [0]]) == .releaseFileDiffers)
        #expect(check([Array(file.reversed())]) == .releaseFileDiffers)
        #expect(check([]) == .releaseFileDiffers)
    }

    @Test("The newest release for a device is chosen, and what a downgrade withdraws is not offered")
    func choice() throws {
        func newest(_ releases: [ReleaseManifest], on version: String?) throws -> String? {
            let target = FirmwareTarget(model: "box", version: try version.map(Self.version))
            return ReleaseChoice.newest(releases, for: target) { $0 }?.version.description
        }
        var releases = [
            try Self.manifest("0.1.9"), try Self.manifest("0.2.0"), try Self.manifest("0.3.0", from: ["0.2.*"]),
            try Self.manifest("9.0.0", model: "other"),
        ]
        #expect(try newest(releases, on: "0.1.0") == "0.2.0")
        #expect(try newest(releases, on: "0.2.0") == "0.3.0")
        #expect(try newest(releases, on: "0.3.0") == nil)
        #expect(try newest(releases, on: nil) == "0.2.0")
        #expect(try newest([], on: "0.1.0") == nil)
        releases.append(try Self.manifest("0.2.1", from: ["0.3.0"], downgrade: true))
        #expect(try newest(releases, on: "0.3.0") == "0.2.1")
        // It names 0.3.0 only, and 0.3.0 is withdrawn.
        #expect(try newest(releases, on: "0.2.0") == nil)
    }

    @Test("A reader gets the description in the nearest language")
    func language() throws {
        let text = try LocalizedText(["en": "e", "zh-Hant": "t", "zh-CN": "c", "de": "d"])
        let expected = [
            "en": "e", "en-GB": "e", "zh-cn": "c", "zh-CN-x-a": "c", "zh-Hant-TW": "t", "de-AT": "d", "fr": "e",
            "": "e", "zh": "e",
        ]
        for (language, letter) in expected { #expect(text.text(for: language)?.text == letter, "\(language)") }
        #expect(text.text(for: nil)?.text == "e")
        #expect(try LocalizedText(["fr": "f", "de": "d"]).text(for: "it")?.language == "de")
        #expect(LocalizedText().text(for: "en") == nil)
    }
}
