import Foundation
import Testing

/// A hub that changes descriptions, between a gateway and a camera on another box: a proxy in front of the hub's broker
/// puts another DTLS fingerprint into each description that passes, in both directions.
@Suite(.serialized, .timeLimit(.minutes(4))) struct HubBetweenTests {
    private static let clip = Product.sample("street-h264-aac.mp4")

    /// Copies bytes between the camera's box and the hub. While the file exists, each fingerprint is replaced by one of the
    /// same length.
    private static let proxy = """
        import os, re, select, socket, sys, threading
        target, path, switch = sys.argv[1:]
        pattern = re.compile(rb"a=fingerprint:sha-256 [0-9A-F:]{95}")
        mark, length = b"a=fingerprint:sha-256 ", 22 + 95
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        print("ready", flush=True)
        def held(data):
            # What may be the beginning of a fingerprint waits for its rest.
            start = data.rfind(mark)
            if start >= 0 and len(data) - start < length:
                return len(data) - start
            return next((n for n in range(len(mark) - 1, 0, -1) if data.endswith(mark[:n])), 0)
        def copy(source, target):
            rest = b""
            try:
                while True:
                    # A message may end like the beginning of a fingerprint, as a secret with a last "a" does.
                    if rest and not select.select([source], [], [], 0.2)[0]:
                        target.sendall(rest)
                        rest = b""
                    data = source.recv(65536)
                    if not data:
                        break
                    data = rest + data
                    kept = held(data)
                    data, rest = data[:len(data) - kept], data[len(data) - kept:]
                    if os.path.exists(switch):
                        data = pattern.sub(mark + b"AB:" * 31 + b"AB", data)
                    target.sendall(data)
            except OSError:
                pass
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        while True:
            client, _ = server.accept()
            hub = socket.socket(socket.AF_UNIX)
            hub.connect(target)
            for pair in ((client, hub), (hub, client)):
                threading.Thread(target=copy, args=pair, daemon=True).start()
        """

    /// A hub's box with the owner's gateway, and the box of the camera `door`, which has joined through the proxy.
    private final class Boxes {
        let hub: RunningDaemon
        let folder: TemporaryFolder
        private(set) var camera: RunningDaemon
        private let proxy: BackgroundProgram
        private let between: TemporaryFolder

        init() async throws {
            hub = try await RunningDaemon(configuration: "")
            try #require(try await hub.iotctl("device", "create", "door", "--owner", "owner").status == 0)
            let made = try await hub.iotctl("token", "create", "--enrol", "--device", "door")
            try #require(made.status == 0, "\(made.errors)")
            let string = made.text.trimmingCharacters(in: .whitespacesAndNewlines)
            let parts = try #require(string.firstMatch(of: #/iotlink\+unix:\/\/\/([^?]*)\?(.*)/#))
            let target = try #require("/\(parts.1)".removingPercentEncoding)
            between = try TemporaryFolder()
            let path = between.path("s")
            let proxy = try BackgroundProgram([
                "python3", "-c", HubBetweenTests.proxy, target, path, between.path("attack"),
            ])
            self.proxy = proxy
            try await eventually("the proxy") { proxy.output.contains("ready") }
            folder = try TemporaryFolder()
            let place = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let joined = try await Program(
                path: Product.program("iotvideod"),
                arguments: ["--data-dir", folder.path("data"), "--join", "-", "--join-only"],
                input: Data("iotlink+unix:///\(place)?\(parts.2)".utf8)
            ).run()
            try #require(joined.status == 0, "\(joined.errors)")
            camera = try await RunningDaemon(cameras: ["door": HubBetweenTests.clip], folder: folder)
            try await online()
        }

        /// Whether the hub changes descriptions.
        func attack(_ isOn: Bool) throws {
            if isOn {
                try Data().write(to: URL(fileURLWithPath: between.path("attack")))
            } else {
                try FileManager.default.removeItem(atPath: between.path("attack"))
            }
        }

        /// Restarts the camera's box, with another list of gateways that may call the camera.
        func restartCamera(callers: String? = nil, _ change: () throws -> Void = {}) async throws {
            #expect(await camera.stop() == 0)
            try change()
            camera = try await RunningDaemon(
                folder: folder,
                configuration: "cameras:\n  - name: door\n    url: \(HubBetweenTests.clip)\n"
                    + (callers.map { "    callers: '\($0)'\n" } ?? ""))
            try await online()
        }

        func online() async throws {
            try await eventually("the camera online") {
                try await hub.iotctl("device", "list").text.contains(#/door .* yes /#)
            }
        }

        func stop() async {
            _ = await camera.stop()
            _ = await hub.stop()
            proxy.send(SIGTERM)
        }

        /// Opens a channel and gets a picture.
        func watch() async throws -> Program.Outcome {
            try await hub.iotctl("monitor", "door", "--frames", "3", "--snapshot", between.path("picture.jpg"))
        }

        /// The error of a call with a browser's offer; `nil` if the camera has answered it.
        func browse() async throws -> Int? {
            let offer = [
                "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE p",
                "a=fingerprint:sha-256 " + Array(repeating: "CD", count: 32).joined(separator: ":"),
                "m=video 9 UDP/TLS/RTP/SAVPF 100", "c=IN IP4 0.0.0.0", "a=ice-ufrag:abcd",
                "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=setup:actpass", "a=mid:p", "a=recvonly", "a=rtcp-mux",
                "a=rtpmap:100 H264/90000", "a=fmtp:100 packetization-mode=1;profile-level-id=42e01f",
            ].map { $0 + "\r\n" }.joined()
            let answer = try await hub.api.request(
                "POST", "/v1/devices/door/whep", body: offer, headers: ["Content-Type: application/sdp"])
            if answer.status == 201 { return nil }
            return (answer.object["error"] as? [String: Any])?["code"] as? Int ?? 0
        }

        /// The stored key, and how it was learned.
        func key() async throws -> String { try await hub.iotctl("device", "key", "door").text }
    }

    @Test("A hub that changes fingerprints gets no connection, whoever makes the offer; without it there is a picture")
    func attack() async throws {
        let boxes = try await Boxes()
        let first = try await boxes.watch()
        #expect(first.status == 0, "\(first.errors)\n\(boxes.camera.log)")
        #expect(try await boxes.browse() == nil)
        try boxes.attack(true)
        let attacked = try await boxes.watch()
        #expect(attacked.status == 1 && attacked.errors.contains("error 25070"), "\(attacked)")
        #expect(try await boxes.browse() == 25070)
        let live = try await boxes.hub.iotctl("live", "door", "--duration", "1s")
        #expect(live.status == 1, "\(live)")
        try boxes.attack(false)
        #expect(try await boxes.watch().status == 0)
        await boxes.stop()
    }

    @Test("A camera with `callers` takes the calls of these gateways only, although the hub gives others a token")
    func callers() async throws {
        let boxes = try await Boxes()
        struct Status: Decodable {
            let key: String
        }
        let status = try JSONDecoder().decode(Status.self, from: try await boxes.hub.iotctl("status", "--json").output)
        try await boxes.restartCamera(callers: status.key)
        #expect(try await boxes.watch().status == 0)
        #expect(try await boxes.browse() == nil)
        try await boxes.restartCamera(callers: "SHA256:" + String(repeating: "A", count: 43))
        let refused = try await boxes.watch()
        #expect(refused.status == 1 && refused.errors.contains("error 25071"), "\(refused)")
        #expect(try await boxes.browse() == 25071)
        await boxes.stop()
    }

    @Test("Another key of the camera is refused until the owner removes the stored one")
    func learnedAgain() async throws {
        let boxes = try await Boxes()
        #expect(try await boxes.watch().status == 0)
        let old = try await boxes.key()
        try await boxes.restartCamera {
            try FileManager.default.removeItem(atPath: boxes.folder.path("data/cameras/door/key.pem"))
        }
        for _ in 0..<2 {
            let refused = try await boxes.watch()
            #expect(refused.status == 1 && refused.errors.contains("error 25080"), "\(refused)")
            #expect(try await boxes.browse() == 25080)
        }
        #expect(try await boxes.hub.iotctl("device", "key", "door", "--forget").status == 0)
        #expect(try await boxes.watch().status == 0)
        #expect(try await boxes.browse() == nil)
        let new = try await boxes.key()
        #expect(new.hasPrefix("SHA256:") && new != old)
        await boxes.stop()
    }

    @Test("A key that the old one has signed is accepted at once; another one is refused until the owner's word")
    func replacedKey() async throws {
        let boxes = try await Boxes()
        #expect(try await boxes.watch().status == 0)
        let old = try await boxes.key()
        struct Replaced: Decodable {
            let fingerprint: String
            let previous: String
        }
        let answer = try await boxes.camera.iotctl("camera", "replace-key", "door", "--json")
        try #require(answer.status == 0, "\(answer.errors)\n\(boxes.camera.log)")
        let replaced = try JSONDecoder().decode(Replaced.self, from: answer.output)
        #expect(old.hasPrefix(replaced.previous) && replaced.fingerprint != replaced.previous)
        try await boxes.online()
        // A call alone is sufficient, in both directions of the offer.
        #expect(try await boxes.watch().status == 0)
        #expect(try await boxes.browse() == nil)
        let shown = try await boxes.hub.iotctl("device", "show", "door")
        #expect(shown.text.contains("\(replaced.fingerprint) (hub, signed by \(replaced.previous)"), "\(shown)")
        // Twice, and looked at before the next call.
        #expect(try await boxes.camera.iotctl("camera", "replace-key", "door").status == 0)
        #expect(try await boxes.camera.iotctl("camera", "replace-key", "door").status == 0)
        try await boxes.online()
        try await eventually("the newest key") {
            let key = try await boxes.key()
            return key.contains("signed by \(replaced.fingerprint)")
        }
        #expect(try await boxes.watch().status == 0)

        // Somebody puts a key of their own there: what the old keys have signed does not lead to it.
        let files = boxes.folder.path("data/cameras/door")
        try await boxes.restartCamera { try FileManager.default.removeItem(atPath: files + "/key.pem") }
        let refused = try await boxes.watch()
        #expect(refused.status == 1 && refused.errors.contains("error 25080"), "\(refused)")
        #expect(try await boxes.browse() == 25080)
        // Only the owner's word helps.
        #expect(try await boxes.hub.iotctl("device", "key", "door", "--forget").status == 0)
        #expect(try await boxes.watch().status == 0)
        await boxes.stop()
    }
}
