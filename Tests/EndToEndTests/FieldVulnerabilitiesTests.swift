import Foundation
import Testing

/// Vulnerabilities of other camera servers, tried on a real daemon with an API over TCP.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FieldVulnerabilitiesTests {
    private func daemon() async throws -> RunningDaemon {
        try await RunningDaemon(
            configuration: """
                api: {listen: "127.0.0.1:0"}
                cameras:
                  - {name: front, url: \(Product.sample("street-h264-aac.mp4"))}
                  - {name: bedroom, url: \(Product.sample("street-h265-aac.mp4"))}

                """)
    }

    private func token(_ daemon: RunningDaemon, _ arguments: String...) async throws -> String {
        let outcome = try await daemon.iotctl(["token", "create", "--api"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("Frigate CVE-2026-33470: a user of one camera gets no picture of another camera")
    func otherCamerasPictures() async throws {
        let daemon = try await daemon()
        #expect(try await daemon.iotctl("user", "create", "guest").status == 0)
        #expect(try await daemon.iotctl("device", "bind", "front", "guest").status == 0)
        let guest = try daemon.tcpAPI(token: try await token(daemon, "--user", "guest"))
        let limited = try daemon.tcpAPI(token: try await token(daemon, "--device", "front"))
        let owner = daemon.api

        // The owner watches the bedroom and takes a photo of it.
        let bedroom = try await owner.request("POST", "/v1/channels", body: #"{"device":"bedroom"}"#)
        let channel = try #require(bedroom.object["id"] as? String)
        _ = try await owner.request("POST", "/v1/channels/\(channel)/play")
        #expect(try await owner.request("GET", "/v1/channels/\(channel)/snapshot").status == 200)
        let photo = try await owner.request(
            "POST", "/v1/devices/bedroom/actions", body: #"{"path":"Action.takePhoto.ctlVal","value":1}"#)
        let resource = try #require((photo.object["value"] as? [String: Any])?["resource"] as? String)
        let devices = try await owner.request("GET", "/v1/devices").object["devices"] as? [[String: Any]]
        let id = try #require(devices?.first { $0["name"] as? String == "bedroom" }?["id"] as? String)

        for stranger in [guest, limited] {
            for path in [
                "/v1/channels/\(channel)/snapshot", "/v1/channels/\(channel)",
                "/v1/channels/\(channel)/video.y4m?frames=1",
                "/v1/channels/\(channel)/recording.mp4", "/v1/channels/\(channel)/audio.wav",
                "/v1/channels/\(channel)/events",
                resource, "/v1/devices/bedroom", "/v1/devices/\(id)/properties?path=", "/v1/devices/\(id)/export",
            ] {
                let answer = try await stranger.request("GET", path)
                #expect((400..<500).contains(answer.status), "\(path): \(answer.status)")
            }
            for device in ["bedroom", id] {
                let call = try await stranger.request("POST", "/v1/channels", body: #"{"device":"\#(device)"}"#)
                #expect((400..<500).contains(call.status), "\(device): \(call.status)")
            }
            let seen = try await stranger.request("GET", "/v1/channels")
            #expect(
                (seen.object["channels"] as? [Any])?.isEmpty == true, "\(String(decoding: seen.body, as: UTF8.self))")
            // Their own camera they can watch.
            let own = try await stranger.request("POST", "/v1/channels", body: #"{"device":"front"}"#)
            let ownID = try #require(own.object["id"] as? String, "\(String(decoding: own.body, as: UTF8.self))")
            _ = try await stranger.request("POST", "/v1/channels/\(ownID)/play")
            #expect(try await stranger.request("GET", "/v1/channels/\(ownID)/snapshot").status == 200)
            #expect(try await stranger.request("DELETE", "/v1/channels/\(ownID)").status < 300)
        }
        await daemon.stop()
    }

    @Test("go2rtc CVE-2024-29191, 29192: requests from a page of another site are refused, and no answer is HTML")
    func crossSite() async throws {
        let daemon = try await daemon()
        let api = try daemon.tcpAPI(token: try await token(daemon))
        let body = #"{"name":"evil","url":"rtsp://192.0.2.1/"}"#
        for headers in [
            ["Origin: https://evil.example"], ["Origin: null"], ["Host: evil.example"],
            ["Content-Type: text/plain"], ["Content-Type: application/x-www-form-urlencoded"],
        ] {
            let answer = try await api.request("POST", "/v1/cameras", body: body, headers: headers)
            #expect([403, 415, 421].contains(answer.status), "\(headers): \(answer.status)")
        }
        let cameras = try await api.request("GET", "/v1/cameras").object["cameras"] as? [Any]
        #expect(cameras?.count == 2)
        // Text from a caller never comes back as HTML.
        let head = try await Program.named(
            "curl",
            [
                "-s", "-i", "-H", "Authorization: Bearer \(api.token!)",
                "\(api.origin)/v1/devices/%3Cscript%3Ealert(1)%3C/script%3E",
            ]
        ).run().text.lowercased()
        #expect(head.contains("content-type: application/json"))
        #expect(head.contains("x-content-type-options: nosniff"))
        #expect(!head.contains("access-control-allow-origin"))
        await daemon.stop()
    }

    @Test("MediaMTX's anonymous default, trust in localhost: over TCP every request needs a token")
    func localhost() async throws {
        let daemon = try await daemon()
        let api = try daemon.tcpAPI()
        for headers in [
            [], ["X-Forwarded-For: 127.0.0.1"], ["X-Real-IP: 127.0.0.1"], ["Authorization: Basic b3duZXI6"],
        ] {
            for path in ["/v1/status", "/v1/devices", "/v1/cameras", "/metrics", "/v1/events", "/v1/tokens"] {
                #expect(try await api.request("GET", path, headers: headers).status == 401, "\(path) \(headers)")
            }
        }
        // The health probes for supervisors need no token and contain nothing else.
        #expect(try await api.request("GET", "/healthz").status == 200)
        await daemon.stop()
    }

    @Test("go2rtc CVE-2024-29193, issues 1878 and 2155: a camera URL that the API stores never runs a program")
    func configurationWrites() async throws {
        let daemon = try await daemon()
        let mark = daemon.folder.path("executed")
        let playlist = daemon.folder.path("list.m3u8")
        try "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXTINF:1,\nhttp://127.0.0.1:9/\n".write(
            toFile: playlist, atomically: true, encoding: .utf8)
        let urls = [
            "exec:touch \(mark)", "exec:///bin/touch?\(mark)", "echo:touch \(mark)", "ffmpeg:/x#exec=touch \(mark)",
            "rtsp://127.0.0.1:9/$(touch \(mark))", "`touch \(mark)`", "| touch \(mark)", "pipe:0",
            "concat:/etc/passwd|/etc/group",
            "subfile,,start,0,end,0,,:/etc/passwd", "crypto:/etc/passwd", "data:text/plain,x",
            "lavfi:movie=/etc/passwd",
            "http://127.0.0.1:9/x", "tcp://127.0.0.1:9", playlist,
        ]
        var added: [String] = []
        for (index, url) in urls.enumerated() {
            let body = try JSONSerialization.data(withJSONObject: ["name": "x\(index)", "url": url])
            let answer = try await daemon.api.request(
                "POST", "/v1/cameras", body: String(decoding: body, as: UTF8.self))
            if answer.status < 300 { added.append("x\(index)") } else { #expect((400..<500).contains(answer.status)) }
        }
        // Each of them fails like a missing file or an unreachable RTSP source.
        try await eventually("every bad source has failed") {
            let cameras = try await daemon.api.request("GET", "/v1/cameras").object["cameras"] as? [[String: Any]]
            return cameras?.allSatisfy { camera in
                let isOurs = added.contains(camera["name"] as? String ?? "")
                return !isOurs || camera["state"] as? String == "failed"
            } == true
        }
        for name in added { #expect(try await daemon.api.request("DELETE", "/v1/cameras/\(name)").status < 300) }
        #expect(!FileManager.default.fileExists(atPath: mark))
        // The broker is the only program that the daemon has started.
        let children = try String(
            contentsOfFile: "/proc/\(daemon.processIdentifier)/task/\(daemon.processIdentifier)/children",
            encoding: .utf8)
        for child in children.split(separator: " ") {
            #expect(try String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8) == "mosquitto\n")
        }
        // A guest may not add cameras.
        #expect(try await daemon.iotctl("user", "create", "guest").status == 0)
        let guest = try daemon.tcpAPI(token: try await token(daemon, "--user", "guest"))
        #expect(
            try await guest.request("POST", "/v1/cameras", body: #"{"name":"g","url":"rtsp://192.0.2.1/"}"#).status
                == 403)
        await daemon.stop()
    }
}
