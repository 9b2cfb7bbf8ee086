import Foundation
import Testing

/// The definitions of a camera whose smaller picture is another file.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DefinitionTests {
    /// A daemon with the camera `front`, 768×576, which has the definition `low`, 384×288, with a key frame each second.
    private func daemon(_ folder: TemporaryFolder) async throws -> RunningDaemon {
        let clip = Product.sample("street-h264-aac.mp4")
        for (name, size) in [("front.mp4", "768x576"), ("low.mp4", "384x288")] {
            let outcome = try await Program.named(
                "ffmpeg",
                [
                    "-v", "error", "-i", clip, "-s", size, "-c:v", "libx264", "-preset", "ultrafast", "-bf", "0", "-g",
                    "10", "-c:a", "copy", folder.path(name),
                ]
            ).run()
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        return try await RunningDaemon(
            folder: folder,
            configuration: """
                rtsp: {listen: "127.0.0.1:0"}
                cameras:
                  - name: front
                    url: \(folder.path("front.mp4"))
                    lowUrl: \(folder.path("low.mp4"))
                    sources: \(Product.sample("street-h265-aac.mp4")) \(folder.path("low.mp4"))
                """)
    }

    private struct Channel: Decodable {
        struct Statistics: Decodable {
            struct Video: Decodable {
                let frameWidth: Int
                let framesShown: Int
                let freezeCount: Int
                let packetsLost: Int
            }
            struct Audio: Decodable {
                let framesShown: Int
            }
            let video: Video
            let audio: Audio
        }
        struct State: Decodable {
            struct Player: Decodable {
                let name: String
            }
            let player: Player
        }
        let state: State
        let id: String
        let definition: String
        let definitions: [String]
        let statistics: Statistics?
    }

    @Test("`monitor`, RTSP players and the API get the wanted definition; one that is missing is refused")
    func open() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        for (wanted, size) in [
            ("low", "384x288"), ("mid,low", "384x288"), ("high", "768x576"), ("288p", "384x288"),
            ("superHD,576p,low", "768x576"),
        ] {
            let outcome = try await daemon.iotctl("monitor", "front", "--definition", wanted, "--frames", "5")
            #expect(outcome.status == 0 && outcome.text.contains(size), "\(wanted): \(outcome)")
            #expect(outcome.text.contains("definition     \(size == "384x288" ? "low" : "high")"), "\(outcome)")
        }
        for (source, track) in [("0", "h264 768x576"), ("1", "h265"), ("2", "h264 384x288")] {
            let outcome = try await daemon.iotctl("monitor", "front", "--source", source, "--frames", "5")
            #expect(outcome.status == 0 && outcome.text.contains(track), "source \(source): \(outcome)")
        }
        #expect(try await daemon.iotctl("property", "read", "front", "ProConst.sources").text == "3\n")
        let none = try await daemon.iotctl("monitor", "front", "--source", "3", "--frames", "5")
        #expect(
            none.status == 1 && none.errors.contains("20009") && none.errors.contains("use 0 to 2"), "\(none.errors)")
        let low = try await daemon.iotctl("monitor", "front", "--source", "1", "--definition", "low")
        #expect(low.status == 1 && low.errors.contains("25133"), "\(low.errors)")
        let sound = try await daemon.iotctl(
            "monitor", "front", "--definition", "audio", "--duration", "1s", "--raw-audio", folder.path("a.wav"))
        #expect(sound.status == 0 && sound.text.contains("video packets  0 received"), "\(sound)")
        let missing = try await daemon.iotctl("monitor", "front", "--definition", "mid")
        #expect(missing.status == 1 && missing.errors.contains("25133") && missing.errors.contains("high, low, audio"))
        #expect(try await daemon.iotctl("monitor", "front", "--definition", "best").status == 2)

        let port = try #require(
            daemon.log.firstMatch(of: #/rtsp\.port="?(\d+).*RTSP listens/#).map { String($0.1) })
        let key = try await daemon.iotctl("key", "create", "player", "--ttl", "1h").text
            .trimmingCharacters(in: .whitespacesAndNewlines)
        for (path, answer) in [("front", "768"), ("front/low", "384"), ("front/mid", "404")] {
            let probe = try await Program.named(
                "ffprobe",
                [
                    "-v", "error", "-rtsp_transport", "tcp", "-select_streams", "v", "-show_entries", "stream=width",
                    "-of", "csv=p=0", "rtsp://\(key.prefix(10)):\(key)@127.0.0.1:\(port)/\(path)",
                ]
            ).run()
            #expect((probe.text + probe.errors).contains(answer), "\(path): \(probe)")
        }
        #expect(await daemon.stop() == 0)
    }

    @Test("A channel changes its definition while it plays, without a freeze and without a lost packet")
    func change() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let api = daemon.api
        let opened = try await api.request(
            "POST", "/v1/channels", body: #"{"device":"front","definition":["mid","low"]}"#)
        let channel = try JSONDecoder().decode(Channel.self, from: opened.body)
        #expect(channel.definition == "low" && channel.definitions == ["high", "low", "audio"])
        let path = "/v1/channels/\(channel.id)"
        #expect(try await api.request("POST", path + "/play").status == 200)
        for wanted in ["high", "low", "high", "low"] {
            let answer = try await api.request("PATCH", path, body: #"{"definition":"\#(wanted)"}"#)
            #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
            #expect(try JSONDecoder().decode(Channel.self, from: answer.body).definition == wanted)
            let width = wanted == "high" ? 768 : 384
            try await eventually("a picture of \(wanted)") {
                let shown = try await api.request("GET", path)
                return try JSONDecoder().decode(Channel.self, from: shown.body).statistics?.video.frameWidth == width
            }
        }
        // Sound alone is neither a stall nor a freeze.
        let silent = try await api.request("PATCH", path, body: #"{"definition":"audio"}"#)
        let before = try JSONDecoder().decode(Channel.self, from: silent.body).statistics?.audio.framesShown ?? 0
        try await eventually("two seconds of sound") {
            let now = try JSONDecoder().decode(Channel.self, from: try await api.request("GET", path).body)
            #expect(now.state.player.name == "playing")
            return (now.statistics?.audio.framesShown ?? 0) >= before + 100
        }
        #expect(try await api.request("PATCH", path, body: #"{"definition":"high"}"#).status == 200)
        try await eventually("a picture after the sound") {
            let shown = try await api.request("GET", path)
            return try JSONDecoder().decode(Channel.self, from: shown.body).statistics?.video.frameWidth == 768
        }
        let missing = try await api.request("PATCH", path, body: #"{"definition":"mid"}"#)
        #expect(missing.status == 404 && String(decoding: missing.body, as: UTF8.self).contains("25133"))
        // It stands only when the device has confirmed it.
        let kept = try await api.request("GET", path)
        #expect(try JSONDecoder().decode(Channel.self, from: kept.body).definition == "high")
        let wrong = try await api.request("PATCH", path, body: #"{"definition":"best"}"#)
        #expect(wrong.status == 400)
        let end = try JSONDecoder().decode(Channel.self, from: try await api.request("DELETE", path).body)
        let video = try #require(end.statistics?.video)
        #expect(video.framesShown > 30 && video.freezeCount == 0 && video.packetsLost == 0)
        #expect(await daemon.stop() == 0)
    }
}
