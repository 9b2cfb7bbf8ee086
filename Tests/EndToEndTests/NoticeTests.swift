import Foundation
import Testing

/// Webhooks for devices that go offline or online, with a receiver on another machine.
@Suite(.serialized, .timeLimit(.minutes(3))) struct NoticeTests {
    private static let receiver = """
        import http.server, sys
        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                print(self.path, self.rfile.read(int(self.headers["Content-Length"])).decode(), flush=True)
                self.send_response(204)
                self.end_headers()
            def log_message(self, *_):
                pass
        http.server.HTTPServer((sys.argv[1], 8000), Receiver).serve_forever()
        """

    @Test(
        "A webhook is called when a device goes offline and online, if `almEvtPushEna` allows it; not on this machine")
    func notices() async throws {
        let network = try await TestNetwork(hosts: ["hub", "receiver"])
        let receiver = try BackgroundProgram(
            network.prefix("receiver") + ["python3", "-c", Self.receiver, network.address("receiver")])
        let clip = Product.sample("street-h264-aac.mp4")
        let daemon = try await RunningDaemon(cameras: ["front": clip], prefix: network.prefix("hub"))
        func run(_ arguments: String...) async throws {
            let outcome = try await daemon.iotctl(arguments)
            try #require(outcome.status == 0, "\(arguments) \(outcome.errors)\n\(daemon.log)")
        }
        try await run("camera", "add", "side", clip)
        try await run("notice", "set", "http://\(network.address("receiver")):8000/secret?a")
        // Off by default.
        try await run("camera", "remove", "side", "--yes")
        try await eventually("side offline") {
            try await daemon.iotctl("device", "list").text.contains(#/side .* no: offline/#)
        }
        try await run("property", "write", "side", "ProUser._buildIn.val.almEvtPushEna", "1")
        try await run("camera", "add", "side", clip)
        try await eventually("the notice") { receiver.output.contains("online") }
        try await run("camera", "remove", "side", "--yes")
        try await eventually("the second notice") { receiver.output.contains("offline") }
        let lines = receiver.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("/secret?a {") })
        #expect(lines.first?.contains(#""event":"online""#) == true && lines.last?.contains(#""name":"side""#) == true)
        try await eventually("the counter") { try await daemon.iotctl("notice", "show").text.contains(#/sent +2/#) }
        #expect(!daemon.log.contains("secret"))

        // The daemon's own API is no receiver, whoever asks.
        try await run("notice", "set", "http://127.0.0.1:8000/")
        try await run("camera", "add", "side", clip)
        try await eventually("the refusal") {
            try await daemon.iotctl("notice", "show").text.contains("25005")
        }
        try await run("notice", "remove")
        #expect(try await daemon.iotctl("notice", "show").status == 1)
        receiver.send(SIGTERM)
        #expect(await daemon.stop() == 0)
    }
}
