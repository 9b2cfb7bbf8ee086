import GatewayAPI
import IoTCore
import MediaChannel
import Testing

@testable import iotvideod

/// The effects of changes to an added camera.
@Suite struct CameraChangeTests {
    private let door: CameraSettings

    init() throws {
        door = try CameraSettings(
            name: "door", url: "rtsp://h/1", username: "a@b", password: "p:1", rtspTransport: .udp, viewers: 3
        ).checked()
    }

    @Test("Absent members stay unchanged, including the password")
    func partial() throws {
        #expect(try door.applying(CameraChange()) == door)
        let moved = try door.applying(CameraChange(CameraSettings(url: "rtsp://H:554/2?a=b")))
        #expect(try moved.openable().url == "rtsp://a%40b:p%3A1@H:554/2?a=b")
        #expect(moved.viewers == 3 && moved.rtspTransport == .udp && moved.name == "door")
        #expect(try door.applying(CameraChange(CameraSettings(viewers: 5))).viewers == 5)
        #expect(try door.applying(CameraChange(CameraSettings(rtspTransport: .tcp))).rtspTransport == .tcp)
        #expect(
            try door.applying(CameraChange(CameraSettings(password: "new"))).openable().url == "rtsp://a%40b:new@h/1")
    }

    @Test("A URL without a user is kept exactly as written")
    func writing() throws {
        let odd = try CameraSettings(name: "odd", url: "rtsp://h/a b;c=%zz").checked()
        #expect(try odd.applying(CameraChange(CameraSettings(viewers: 2))).openable().url == "rtsp://h/a b;c=%zz")
    }

    @Test("Another user name removes the old password; null removes both")
    func username() throws {
        #expect(try door.applying(CameraChange(CameraSettings(username: "c"))).openable().url == "rtsp://c@h/1")
        #expect(try door.applying(CameraChange(removed: ["username"])).openable().url == "rtsp://h/1")
        #expect(try door.applying(CameraChange(CameraSettings(url: "rtsp://c@h/1"))).openable().url == "rtsp://c@h/1")
    }

    @Test(
        "The password is not sent to another host or port unless it is given again",
        arguments: ["rtsp://i/1", "rtsp://h:8554/1"])
    func otherHost(url: String) throws {
        let refused = try #require(throws: IoTError.self) { try door.applying(CameraChange(CameraSettings(url: url))) }
        #expect(refused.code == .invalidRequest && refused.message.contains("user name and the password again"))
        let alone = try #require(throws: IoTError.self) {
            try door.applying(CameraChange(CameraSettings(url: url, password: "x")))
        }
        #expect(alone.code == .invalidRequest)
        let given = try door.applying(CameraChange(CameraSettings(url: url, username: "a", password: "b")))
        #expect(try given.openable().url.contains("://a:b@"))
        #expect(try door.applying(CameraChange(CameraSettings(url: url), removed: ["username"])).openable().url == url)
    }

    @Test(
        "The password is not sent without encryption unless it is given again, and the fingerprint goes with rtsps://")
    func encryption() throws {
        let fingerprint = String(repeating: "ab", count: 32)
        let lobby = try CameraSettings(
            name: "lobby", url: "rtsps://h:8322/1", username: "a", password: "b", certificate: fingerprint
        ).checked()
        #expect(lobby.certificate == Array(repeating: "AB", count: 32).joined(separator: ":"))
        let open = CameraSettings(url: "rtsp://h:8322/1")
        let refused = try #require(throws: IoTError.self) { try lobby.applying(CameraChange(open)) }
        #expect(refused.code == .invalidRequest && refused.message.contains("not encrypted any more"))
        #expect(try lobby.applying(CameraChange(open, removed: ["username"])).certificate == nil)
        let kept = try lobby.applying(CameraChange(CameraSettings(url: "rtsps://h:8322/2")))
        #expect(kept.certificate == lobby.certificate && kept.url.contains("a:b@"))
        #expect(try lobby.applying(CameraChange(removed: ["certificate"])).certificate == nil)
        // A definition without encryption gets no login, even at the same host and port.
        let low = try lobby.applying(CameraChange(CameraSettings(lowUrl: "rtsp://h:8322/2"))).openable()
        #expect(low.lowUrl == "rtsp://h:8322/2" && low.url.contains("a:b@"))
        let clip = CameraSettings(name: "clip", url: "/a.mp4", certificate: "any")
        #expect(throws: IoTError.self) { try clip.checked() }
        let withLow = CameraSettings(name: "clip", url: "/a.mp4", certificate: "any", lowUrl: "rtsps://h/2")
        #expect(try withLow.checked().certificate == "any")
    }

    @Test("With another host in a URL, a camera loses `certificate: any`, but not a fingerprint")
    func otherHostsCertificate() throws {
        let fingerprint = String(repeating: "ab", count: 32)
        func changed(_ certificate: String, _ change: CameraSettings) throws -> String? {
            try CameraSettings(name: "lobby", url: "rtsps://h:8322/1", certificate: certificate).checked()
                .applying(CameraChange(change)).certificate
        }
        #expect(try changed("any", CameraSettings(url: "rtsps://H:322/2")) == "any")
        #expect(try changed("any", CameraSettings(lowUrl: "rtsps://h/2")) == "any")
        #expect(try changed("any", CameraSettings(url: "rtsps://i:8322/1")) == nil)
        #expect(try changed("any", CameraSettings(lowUrl: "rtsps://i/2")) == nil)
        #expect(try changed("any", CameraSettings(url: "rtsps://i:8322/1", certificate: "any")) == "any")
        #expect(try changed(fingerprint, CameraSettings(url: "rtsps://i:8322/1"))?.hasPrefix("AB:AB") == true)
    }

    @Test("A camera that becomes a file loses its user, and a file accepts none")
    func file() throws {
        let clip = try door.applying(CameraChange(CameraSettings(url: "/a.mp4")))
        #expect(clip.source.kind == .file && clip.rtspTransport == .tcp && clip.viewers == 3)
        for change in [
            CameraChange(CameraSettings(username: "u")), CameraChange(CameraSettings(rtspTransport: .udp)),
            CameraChange(CameraSettings(password: "p")),
            CameraChange(CameraSettings(url: "exec:x")), CameraChange(CameraSettings(url: "rtsp://u:p@h/1")),
            CameraChange(CameraSettings(viewers: 0)),
        ] {
            let refused = try #require(throws: IoTError.self) { try clip.applying(change) }
            #expect(refused.code == .invalidRequest, "\(change)")
        }
    }

    @Test("A definition's source gets the camera's login at the same host only, and null removes it")
    func definitions() throws {
        func low(_ url: String) throws -> CameraSettings {
            try door.applying(CameraChange(CameraSettings(lowUrl: url)))
        }
        #expect(try low("rtsp://h/2").lowUrl == "rtsp://h/2", "it is stored without the login")
        for (url, opened) in [
            ("rtsp://H:554/2", "rtsp://a%40b:p%3A1@H:554/2"), ("rtsp://i/2", "rtsp://i/2"),
            ("rtsp://h:8554/2", "rtsp://h:8554/2"), ("rtsp://c@h/2", "rtsp://c@h/2"), ("/low.mp4", "/low.mp4"),
        ] {
            #expect(try low(url).openable().lowUrl == opened)
        }
        // Responses show the settings with which the camera is opened.
        let shown = try low("rtsp://h/2").openable().shownWithoutPasswords.lowUrl
        #expect(shown == "rtsp://…@h/2")
        for url in ["", "low.mp4", "exec:x", "v4l2:/dev/video0", "V4L2:/dev/video0", "rtsp://u:p@h/2", "rtsp:///2"] {
            let refused = try #require(throws: IoTError.self) { try low(url) }
            #expect(refused.code == .invalidRequest && refused.message.hasPrefix("lowUrl: "), "\(url): \(refused)")
        }
        let both = try low("/low.mp4").applying(CameraChange(CameraSettings(midUrl: "/mid.mp4")))
        #expect(both.lowUrl == "/low.mp4" && both.midUrl == "/mid.mp4")
        let recorder = try door.applying(
            CameraChange(CameraSettings(sources: "rtsp://h/2  rtsp://i/3 /four.mp4")))
        #expect(recorder.sources == "rtsp://h/2 rtsp://i/3 /four.mp4", "it is stored without the login")
        let opened = try recorder.openable()
        #expect(opened.furtherSources[1...] == ["rtsp://i/3", "/four.mp4"], "another host does not get the login")
        #expect(opened.furtherSources[0].contains("@h/2"))
        #expect(opened.shownWithoutPasswords.sources?.hasPrefix("rtsp://…@h/2 ") == true)
        for wrong in ["", "exec:x", "rtsp://a:b@h/2", "v4l2:/dev/video0", "/a.mp4 relative.mp4"] {
            #expect(throws: IoTError.self, "\(wrong)") {
                try door.applying(CameraChange(CameraSettings(sources: wrong)))
            }
        }
        let one = try both.applying(CameraChange(removed: ["lowUrl"]))
        #expect(one.lowUrl == nil && one.midUrl == "/mid.mp4" && one.url == door.url)
    }
}
