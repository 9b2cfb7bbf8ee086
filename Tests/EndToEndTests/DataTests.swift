import Foundation
import Testing

/// Data between programs at two boxes: a user's gateway, and the program beside a camera.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DataTests {
    private struct Boxes {
        let network: TestNetwork
        let camera: RunningDaemon
        let user: RunningDaemon
    }

    /// The hub's box with the camera `front`, and bob's gateway on another one.
    private func boxes(actions: [String] = ["view", "control"]) async throws -> Boxes {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let configuration = """
            hub:
              tls:
                listen: \(network.address("hub")):8883
            cameras:
              - name: front
                url: \(Product.sample("street-h264-aac.mp4"))

            """
        let camera = try await RunningDaemon(configuration: configuration, prefix: network.prefix("hub"))
        _ = try await run(camera, "user", "create", "bob")
        _ = try await run(camera, ["device", "bind", "front", "bob"] + actions.flatMap { ["--action", $0] })
        let enrolment = try await run(camera, "token", "create", "--enrol", "--user", "bob")
        let folder = try TemporaryFolder()
        let file = folder.path("enrolment")
        _ = FileManager.default.createFile(
            atPath: file, contents: Data(enrolment.utf8), attributes: [.posixPermissions: 0o600])
        let user = try await RunningDaemon(
            folder: folder, arguments: ["--join", file], prefix: network.prefix("gateway"))
        return Boxes(network: network, camera: camera, user: user)
    }

    private func run(_ daemon: RunningDaemon, _ arguments: String..., input: String? = nil) async throws -> String {
        try await run(daemon, arguments, input: input)
    }

    private func run(_ daemon: RunningDaemon, _ arguments: [String], input: String? = nil) async throws -> String {
        let outcome = try await daemon.iotctl(arguments, input: input)
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.text
    }

    /// The program beside the camera, as a shell script: what it gets, as JSON lines.
    private func program(_ boxes: Boxes) throws -> BackgroundProgram {
        try BackgroundProgram(
            boxes.network.prefix("hub") + [
                Product.program("iotctl"), "--socket", boxes.camera.folder.path("socket"), "camera", "data", "front",
            ])
    }

    private func notices(_ program: BackgroundProgram) -> [[String: Any]] {
        program.output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    private func listening(_ boxes: Boxes, _ id: String) async throws {
        try await eventually("the program listens") {
            try await boxes.user.iotctl("channel", "send", id, "ping").status == 0
        }
    }

    @Test(
        "10,000 messages arrive in order at the other box's program over a network with loss; 64,000 bytes pass, 64,001 do not"
    )
    func messages() async throws {
        let boxes = try await boxes()
        try await boxes.network.lose(percent: 3, of: "hub")
        let id = try await run(boxes.user, "channel", "open", "front").trimmingCharacters(in: .whitespacesAndNewlines)
        let refused = try await boxes.user.iotctl("channel", "send", id, "anybody?")
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 25057 "), "\(refused.errors)")
        let program = try program(boxes)
        try await listening(boxes, id)

        let lines = (0..<10_000).map { "line \($0)" }
        _ = try await run(
            boxes.user, "channel", "send", id, "-", "--lines", input: lines.joined(separator: "\n") + "\n")
        let long = String(repeating: "x", count: 64_000)
        _ = try await run(boxes.user, "channel", "send", id, "-", input: long)
        let tooLong = try await boxes.user.iotctl(["channel", "send", id, "-"], input: long + "x")
        #expect(tooLong.status == 1 && tooLong.errors.hasPrefix("error 21024 "), "\(tooLong.errors)")

        try await eventually("everything has come") {
            notices(program).contains { ($0["data"] as? String)?.utf8.count ?? 0 > 80_000 }
        }
        let texts = notices(program).compactMap { notice in
            (notice["data"] as? String).flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(texts.filter { $0.hasPrefix("line ") } == lines)
        #expect(texts.last == long)
        // What a transmission channel has not.
        let play = try await boxes.user.api.request("POST", "/v1/channels/\(id)/play")
        #expect(play.status == 409 && String(decoding: play.body, as: UTF8.self).contains("21040"))
        let raw = try await boxes.user.api.request("GET", "/v1/channels/\(id)/video.y4m")
        #expect(raw.status == 409 && String(decoding: raw.body, as: UTF8.self).contains("21040"))
        _ = try await run(boxes.user, "channel", "close", id)
        try await eventually("the program hears of the end") {
            notices(program).contains { $0["event"] as? String == "closed" }
        }
    }

    @Test("Requests are answered in turn, with one and with many responses, and the device's program sends by itself")
    func requests() async throws {
        let boxes = try await boxes()
        try await boxes.network.lose(percent: 3, of: "hub")
        // Data also pass over a channel with media.
        let id = try await run(boxes.user, "channel", "open", "front", "--kind", "monitor")
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let program = try program(boxes)
        try await listening(boxes, id)
        async let first = boxes.user.iotctl("channel", "send", id, "one", "--responses", "one", "--timeout", "60s")
        try await eventually("the first request has come") { requests(program).count == 1 }
        async let second = boxes.user.iotctl("channel", "send", id, "many", "--responses", "many", "--timeout", "60s")
        let one = try #require(requests(program).first)
        #expect(one.text == "one" && one.responses == "one")
        _ = try await run(boxes.camera, answer(one, "21"))
        try await eventually("the second request has come") { requests(program).count == 2 }
        let many = requests(program)[1]
        #expect(many.text == "many" && many.responses == "many")
        for part in ["a", "b"] { _ = try await run(boxes.camera, answer(many, part) + ["--more"]) }
        _ = try await run(boxes.camera, answer(many, "c"))
        #expect(try await first.text == "21\n")
        #expect(try await second.text == "a\nb\nc\n")

        let again = try await boxes.camera.iotctl(answer(many, "d"))
        #expect(again.status == 1 && again.errors.hasPrefix("error 25003 "), "\(again.errors)")
        async let heard = boxes.user.iotctl("channel", "listen", id, "--count", "1")
        try await eventually("somebody listens") {
            try await boxes.camera.iotctl("camera", "answer", "front", "the gate is open").status == 0
        }
        #expect(try await heard.text == "the gate is open\n")
        let other = try await boxes.camera.iotctl("camera", "data", "front")
        #expect(other.status == 1 && other.errors.hasPrefix("error 25058 "), "\(other.errors)")
    }

    private struct Request {
        let call: String
        let number: Int
        let responses: String
        let text: String
    }

    private func requests(_ program: BackgroundProgram) -> [Request] {
        notices(program).compactMap { notice in
            guard notice["event"] as? String == "request", let call = notice["call"] as? String,
                let number = notice["request"] as? Int, let responses = notice["responses"] as? String,
                let data = (notice["data"] as? String).flatMap({ Data(base64Encoded: $0) })
            else { return nil }
            return Request(
                call: call, number: number, responses: responses, text: String(decoding: data, as: UTF8.self))
        }
    }

    private func answer(_ request: Request, _ text: String) -> [String] {
        ["camera", "answer", "front", text, "--call", request.call, "--request", String(request.number)]
    }

    @Test("Without the action control there are no data; an account for one call can call once")
    func rights() async throws {
        let boxes = try await boxes(actions: ["view"])
        let refused = try await boxes.user.iotctl("channel", "open", "front")
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 8003 "), "\(refused.errors)")

        let enrolment = try await run(
            boxes.camera, "user", "temporary", "front", "--ttl", "1h", "--action", "view", "--one-call")
        let folder = try TemporaryFolder()
        let file = folder.path("enrolment")
        _ = FileManager.default.createFile(
            atPath: file, contents: Data(enrolment.utf8), attributes: [.posixPermissions: 0o600])
        let guest = try await RunningDaemon(
            folder: folder, arguments: ["--join", file], prefix: boxes.network.prefix("gateway"))
        _ = try await run(guest, "monitor", "front", "--frames", "5")
        try await eventually("the account is gone") {
            try await !run(boxes.camera, "user", "list").contains("temporary-")
        }
        let again = try await guest.iotctl("monitor", "front", "--frames", "5")
        #expect(again.status == 1)
    }
}
