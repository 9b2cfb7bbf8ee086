import Foundation
import IoTCore
import NIOCore
import NIOPosix
import Testing

@testable import NetConfig

/// Uses a camera in Python with a self-signed certificate (Fixtures/onvif_camera.py).
@Suite struct ONVIFClientTests {
    private static let login = ONVIFLogin(username: "admin", password: "secret")

    /// The camera's URL, and its certificate's fingerprint from Python.
    private func camera(isEncrypted: Bool) async throws -> (peer: PythonPeer, url: String, fingerprint: String) {
        let peer = try PythonPeer("onvif_camera.py", isEncrypted ? ["--tls"] : [], .object(["password": "secret"]))
        let start = try JSONValue(parsing: try await peer.line())
        let port = try #require(start["port"]?.integerValue)
        let scheme = isEncrypted ? "https" : "http"
        return (peer, "\(scheme)://127.0.0.1:\(port)/onvif/device_service", start["fingerprint"]?.stringValue ?? "")
    }

    private func describe(_ url: String, _ trust: CameraTrust = .none) async throws -> ONVIFDescription {
        try await ONVIFClient(loops: MultiThreadedEventLoopGroup.singleton)
            .describe(url, login: Self.login, trust: trust)
    }

    @Test("A camera with a self-signed certificate is accepted if it is pinned, or if any certificate is accepted")
    func trusted() async throws {
        let (peer, url, fingerprint) = try await camera(isEncrypted: true)
        let pinned = CameraTrust.pinned(try #require(CertificateDigest(fingerprint)))
        for trust in [pinned, .any] {
            let description = try await describe(url, trust)
            #expect(description.model == "PY-1" && description.main.codec == "H265")
            #expect(description.main.url == "rtsp://127.0.0.1:8554/main" && description.sub?.width == 640)
        }
        _ = try await peer.result()
    }

    @Test("An unknown certificate, or one that differs from the pinned one, is refused before anything is sent")
    func refused() async throws {
        let (peer, url, fingerprint) = try await camera(isEncrypted: true)
        for (trust, words) in [
            (CameraTrust.none, "is unknown"), (.pinned(CertificateDigest(der: [1])), "different certificate"),
        ] {
            let error = await #expect(throws: IoTError.self) { try await describe(url, trust) }
            #expect(error?.code == .certificateRejected)
            // The user compares the fingerprint and passes it in the next call.
            #expect(error?.message.contains(words) == true && error?.message.contains(fingerprint) == true)
        }
        #expect(try await peer.result()["requests"]?.integerValue == 0)
    }

    @Test("http:// works without a certificate, and https:// to a server without TLS is an error")
    func plain() async throws {
        let (peer, url, _) = try await camera(isEncrypted: false)
        #expect(try await describe(url).main.url == "rtsp://127.0.0.1:8554/main")
        let error = await #expect(throws: IoTError.self) {
            try await describe(url.replacing("http:", with: "https:"), .any)
        }
        #expect(error?.code == .sourceUnreachable && error?.message.contains("TLS") == true)
        _ = try await peer.result()
    }

    @Test("A camera says its version, gets a file in parts at its own host, and refuses a wrong one")
    func firmware() async throws {
        let (peer, url, _) = try await camera(isEncrypted: false)
        let client = ONVIFFirmwareClient(
            ONVIFService(try #require(ServiceURL(url)), login: Self.login),
            loops: MultiThreadedEventLoopGroup.singleton)
        #expect(try await client.information() == .init(model: "Python PY-1", version: "V1.0.2 build 7"))
        let file = Array("PYFW V1.1.0\n".utf8) + [UInt8](repeating: 7, count: 200_000)
        let downTime = try await client.upload(size: file.count) { place, count in
            #expect(count <= 65_536)
            return Array(file[place..<place + count])
        }
        #expect(downTime == .seconds(1))
        #expect(try await client.information().version == "V1.1.0")
        let refusal = await #expect(throws: IoTError.self) {
            try await client.upload(size: 10) { _, count in [UInt8](repeating: 1, count: count) }
        }
        #expect(refusal?.code == .sourceUnsupported && refusal?.message.contains("415") == true)
        // A file that cannot be read is not sent.
        let broken = await #expect(throws: IoTError.self) {
            try await client.upload(size: 10) { _, _ in throw IoTError(.fileFailed) }
        }
        #expect(broken != nil)
        #expect(try await client.information().version == "V1.1.0")
        _ = try await peer.result()
    }

    @Test("A camera's events arrive, and the subscription is ended with the client")
    func events() async throws {
        let (peer, url, _) = try await camera(isEncrypted: false)
        let client = ONVIFEventClient(
            ONVIFService(try #require(ServiceURL(url)), login: Self.login),
            loops: MultiThreadedEventLoopGroup.singleton)
        let (reports, report) = AsyncStream.makeStream(of: ONVIFEventClient.Report.self)
        let running = Task { await client.run { report.yield($0) } }
        var found: [ONVIFNotification] = []
        var connections = 0
        for await next in reports {
            switch next {
            case .connected: connections += 1
            case .answered(let notifications): found += notifications
            case .failed(let error): Issue.record(error)
            }
            if found.count == 2 { break }
        }
        running.cancel()
        await running.value
        #expect(connections == 1 && found.map(\.type) == [.human, .human] && found.map(\.change) == [.begins, .ends])
        #expect(found[0].detector == found[1].detector)
        #expect(try await peer.result()["subscriptions"]?.integerValue == 0)
    }

    @Test(
        "A fingerprint is valid with and without colons; any other text is invalid",
        arguments: [String(repeating: "ab", count: 32), Array(repeating: "AB", count: 32).joined(separator: ":")])
    func fingerprints(text: String) throws {
        let fingerprint = try #require(CertificateDigest(text))
        #expect(fingerprint.description == Array(repeating: "AB", count: 32).joined(separator: ":"))
        let notHexadecimal = text.replacing("b", with: "g").replacing("B", with: "g")
        for wrong in ["", text + "00", String(text.dropLast(2)), notHexadecimal, ":" + text, text + ":", "a:" + text] {
            #expect(CertificateDigest(wrong) == nil)
        }
    }
}
