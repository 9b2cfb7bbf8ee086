import Firmware
import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import LinkHub

/// Releases of firmware at the hub, and what it offers to whom.
@Suite("Releases of firmware")
struct ReleaseTests {
    private static func signed(
        _ version: String, size: Int64 = 8, model: String = "box", from: [String] = [], downgrade: Bool = false,
        key: ReleaseKey = ReleaseKey()
    ) throws -> SignedManifest {
        try SignedManifest(
            ReleaseManifest(
                model: model, version: try #require(FirmwareVersion(version)), size: size,
                hash: Array(repeating: 7, count: 32), from: try from.map { try #require(VersionPattern($0)) },
                descriptions: try LocalizedText(["en": "new \(version)", "de": "neu \(version)"]),
                isDowngrade: downgrade), signedWith: key)
    }

    private static func params(_ signed: SignedManifest) -> JSONValue {
        [
            "manifest": .string(String(decoding: signed.bytes, as: UTF8.self)),
            "signature": .string(Base64.encode(signed.signature)),
        ]
    }

    /// Adds a release and returns its answer.
    private func add(_ fixture: inout RightsFixture, _ signed: SignedManifest) throws -> LinkReply {
        try #require(try fixture.hub.request(fixture.address(.administrator), "firmware.add", Self.params(signed)))
    }

    private func id(_ reply: LinkReply) throws -> String { try #require(reply.result["id"]?.stringValue) }

    @Test("A release is added once, without its file it is not offered, and it survives a restart")
    func addition() throws {
        var fixture = try RightsFixture()
        let signed = try Self.signed("0.2.0")
        let first = try id(try add(&fixture, signed))
        #expect(try id(try add(&fixture, signed)) == first)
        #expect(fixture.hub.core.state.releases.count == 1)
        let shown = try #require(
            try fixture.hub.request(fixture.address(.view), "firmware.show", ["id": .string(first)]))
        #expect(shown.result["manifest"]?.stringValue.map { Array($0.utf8) } == signed.bytes)
        #expect(shown.result["signature"]?.stringValue == Base64.encode(signed.signature))
        #expect(shown.result["complete"] == false)
        let list = try #require(try fixture.hub.request(fixture.address(.administrator), "firmware.list"))
        #expect(list.result["releases"]?.arrayValue?.count == 1)
        #expect(list.result["releases"]?.arrayValue?.first?["manifest"] == nil)
    }

    @Test("Another release of the same version, a damaged manifest and one without a signature are refused")
    func refused() throws {
        var fixture = try RightsFixture()
        _ = try add(&fixture, try Self.signed("0.2.0"))
        #expect(try add(&fixture, try Self.signed("0.2.0")).code == .nameTaken)
        #expect(try add(&fixture, try Self.signed("0.2.0", model: "other")).code == .success)
        let signature = Array(repeating: UInt8(0), count: 64)
        let damaged = SignedManifest(bytes: Array("{}".utf8), signature: signature)
        #expect(try add(&fixture, damaged).code == .releaseManifestInvalid)
        let short = SignedManifest(bytes: try Self.signed("0.3.0").bytes, signature: [1])
        #expect(try add(&fixture, short).code == .invalidRequest)
    }

    @Test("The number and the bytes of releases are bounded")
    func bounds() throws {
        var fixture = try RightsFixture()
        let limits = fixture.hub.core.limits
        #expect(try add(&fixture, try Self.signed("9.0.0", size: limits.releaseBytes)).code == .success)
        #expect(try add(&fixture, try Self.signed("9.0.1", size: 1)).code == .releaseSpaceUsed)
        fixture = try RightsFixture()
        for number in 0..<limits.releases {
            #expect(try add(&fixture, try Self.signed("0.0.\(number)", size: 1)).code == .success)
        }
        #expect(try add(&fixture, try Self.signed("1.0.0", size: 1)).code == .releaseSpaceUsed)
    }

    /// What `front` is offered.
    private func offer(_ fixture: inout RightsFixture, _ more: JSONValue = [:]) throws -> JSONValue {
        let params = more.merging(["device": "front"])
        let reply = try #require(try fixture.hub.request(fixture.address(.view), "firmware.query", params))
        #expect(reply.code == .success, "\(reply.message)")
        return reply.result
    }

    /// A hub with complete releases for `front`, which is a `box` with a version.
    private func hub(_ version: String, _ releases: [SignedManifest]) throws -> RightsFixture {
        var fixture = try RightsFixture()
        let schema = try ThingSchema([
            .constant("firmware", .structure("Firmware", [.init("model", .string(64)), .init("version", .string(32))]))
        ])
        let login = ModelLogin(
            schema: schema, constants: ["firmware": ["model": "box", "version": .string(version)]], readonly: [:],
            writableVersions: [:])
        let reply = try #require(
            try fixture.hub.request(fixture.address(.camera), ModelMethod.login.name, login.json))
        #expect(reply.code == .success, "\(reply.message)")
        for release in releases {
            let id = try id(try add(&fixture, release))
            try fixture.hub.core.completeRelease(id)
        }
        return fixture
    }

    @Test("A device is offered the newest release for its version, in the reader's language, also while it is offline")
    func offers() throws {
        var fixture = try hub(
            "0.1.0", [try Self.signed("0.2.0"), try Self.signed("0.3.0", from: ["0.2.*"]), try Self.signed("0.1.9")])
        _ = try fixture.hub.send(fixture.address(.camera), .push(LinkPush(method: "session.end")))
        let plain = try offer(&fixture)
        #expect(plain["available"] == true && plain["version"] == "0.2.0" && plain["currentVersion"] == "0.1.0")
        #expect(plain["description"] == "new 0.2.0" && plain["language"] == "en" && plain["size"] == 8)
        let place = try #require(plain["id"]?.stringValue)
        #expect(plain["url"]?.stringValue == "/v1/firmware/releases/\(place)/file")
        #expect(try offer(&fixture, ["language": "de-AT"])["description"] == "neu 0.2.0")
        #expect(try offer(&fixture, ["currentVersion": "0.2.5"])["version"] == "0.3.0")
        let newest = try offer(&fixture, ["currentVersion": "0.3.0"])
        #expect(newest["available"] == false && newest["version"] == nil && newest["model"] == "box")
    }

    @Test("A release without its file, and one for another model, are not offered")
    func notOffered() throws {
        var fixture = try hub("0.1.0", [try Self.signed("0.9.0", model: "other")])
        _ = try add(&fixture, try Self.signed("0.2.0"))
        #expect(try offer(&fixture)["available"] == false)
    }

    @Test("A device without ProConst.firmware is known by its product; without any, nothing is offered")
    func product() throws {
        var fixture = try hub("0.1.0", [try Self.signed("0.2.0", model: "T-1")])
        let login = ModelLogin(
            schema: try ThingSchema([]),
            constants: [
                "_productInfo": [
                    "productModel": "T-1", "productID": "", "funcCode": 0, "revision": 0, "revisionUtc": 0,
                ], "_versionInfo": ["sdkVer": 0, "swVer": 1_000, "hwVer": 0],
            ], readonly: [:], writableVersions: [:])
        _ = try fixture.hub.request(fixture.address(.camera), ModelMethod.login.name, login.json)
        let offered = try offer(&fixture)
        #expect(offered["version"] == "0.2.0" && offered["currentVersion"] == "0.1.0" && offered["model"] == "T-1")

        var other = try RightsFixture()
        let none = try offer(&other)
        #expect(none["available"] == false && none["currentVersion"] == nil && none["model"] == "")
    }

    @Test("A removed release is no longer offered, and its id is unknown")
    func removal() throws {
        var fixture = try hub("0.1.0", [try Self.signed("0.2.0")])
        let id = try #require(try offer(&fixture)["id"])
        let administrator = fixture.address(.administrator)
        #expect(try fixture.hub.request(administrator, "firmware.remove", ["id": id])?.code == .success)
        #expect(try offer(&fixture)["available"] == false)
        #expect(try fixture.hub.request(administrator, "firmware.remove", ["id": id])?.code == .notFound)
    }

    // MARK: Files

    private static let content = Array((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func manifest(of content: [UInt8]) throws -> ReleaseManifest {
        var digest = FileDigest()
        digest.update(content)
        return try ReleaseManifest(
            model: "box", version: try #require(FirmwareVersion("1.0.0")), size: digest.size, hash: digest.hash)
    }

    private func code(_ work: () async throws -> Void) async -> ErrorCode? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? IoTError)?.code
        }
    }

    @Test("A file comes in parts, each where the last one ended, and is read again")
    func parts() async throws {
        let directory = TemporaryDirectory()
        let store = ReleaseStore(directory: directory.path + "/firmware")
        let id = Hex.random(byteCount: 16)
        let manifest = try manifest(of: Self.content)
        #expect(await store.size(of: id) == 0)
        #expect(try await store.write(Array(Self.content[..<60_000]), at: 0, of: id, manifest) == 60_000)
        // A part again, as after an answer that was lost.
        #expect(
            await code { _ = try await store.write(Array(Self.content[..<60_000]), at: 0, of: id, manifest) }
                == .stateMismatch)
        #expect(await code { try await store.verify(id, manifest) } == .releaseFileDiffers)
        // An incomplete file is not removed by the comparison's failure alone.
        _ = try? await store.write(Array(Self.content[..<60_000]), at: 0, of: id, manifest)
        #expect(try await store.write(Array(Self.content[60_000...]), at: 60_000, of: id, manifest) == 100_000)
        try await store.verify(id, manifest)
        #expect(try await store.read(id, at: 99_990, count: 100) == Array(Self.content[99_990...]))
        #expect(try await store.read(id, at: 100_000, count: 100) == [])
    }

    @Test("Too many bytes, and another file of the same size, are refused; the other file is removed")
    func otherFile() async throws {
        let directory = TemporaryDirectory()
        let store = ReleaseStore(directory: directory.path + "/firmware")
        let id = Hex.random(byteCount: 16)
        let manifest = try manifest(of: Self.content)
        #expect(
            await code { _ = try await store.write(Self.content + [0], at: 0, of: id, manifest) }
                == .releaseFileDiffers)
        #expect(await store.size(of: id) == 0)
        _ = try await store.write(Array(Self.content.reversed()), at: 0, of: id, manifest)
        #expect(await code { try await store.verify(id, manifest) } == .releaseFileDiffers)
        #expect(await store.size(of: id) == 0)
    }

    @Test("Files of unknown releases are removed, and nothing else")
    func sweep() async throws {
        let directory = TemporaryDirectory()
        let store = ReleaseStore(directory: directory.path + "/firmware")
        let ids = (0..<3).map { _ in Hex.random(byteCount: 16) }
        let manifest = try manifest(of: Self.content)
        for id in ids { _ = try await store.write([1], at: 0, of: id, manifest) }
        await store.keepOnly([ids[1]])
        #expect(await store.size(of: ids[0]) == 0)
        #expect(await store.size(of: ids[1]) == 1)
        #expect(await store.size(of: ids[2]) == 0)
        #expect(await code { _ = try await store.read("../hub.sqlite", at: 0, count: 1) } == .internalFailure)
    }
}
