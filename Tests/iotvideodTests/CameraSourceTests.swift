import ArgumentParser
import GatewayAPI
import IoTCore
import MediaChannel
import Testing

@testable import iotvideod

@Suite struct CameraSourceTests {
    @Test("A password is never shown")
    func redaction() throws {
        let source = try CameraSource("rtsp://ad%40min:se:c%2Fret@192.0.2.7:554/x?a=1", relativeTo: "/")
        #expect(source.holdsPassword)
        #expect(CameraSettings(url: source.url).redactedURL == "rtsp://…@192.0.2.7:554/x?a=1")
        #expect(CameraSettings(url: "rtsp://h/x").redactedURL == "rtsp://h/x")
    }

    @Test("User and password are escaped for the URL")
    func credentials() throws {
        let source = try CameraSource("rtsp://h:554/x", relativeTo: "/")
        #expect(source.url(username: "a@b", password: "p:/?#%é") == "rtsp://a%40b:p%3A%2F%3F%23%25%C3%A9@h:554/x")
        #expect(source.url(username: "a", password: nil) == "rtsp://a@h:554/x")
    }

    @Test("Files are found by path, relative path and file URL")
    func files() throws {
        #expect(try CameraSource("/a b.mp4", relativeTo: "/d").url == "/a b.mp4")
        #expect(try CameraSource("a.mp4", relativeTo: "/d").url == "/d/a.mp4")
        #expect(try CameraSource("./a:b.mp4", relativeTo: "/d").url == "/d/./a:b.mp4")
        #expect(try CameraSource("a/b:c.mp4", relativeTo: "/d").url == "/d/a/b:c.mp4")
        // A slash with a modifier or a combining mark after it is another character, but the same byte.
        for path in ["/\u{1F3FB}a.mp4", "/\u{301}a.mp4"] {
            #expect(try CameraSource(path, relativeTo: "/d").url == path)
            #expect(CameraLoudspeaker("file:\(path).wav") == .file("\(path).wav"))
        }
        #expect(CameraLoudspeaker("file:/\u{600}.wav") == .file("/\u{600}.wav"))
        for text in ["file:///a%20b.mp4", "file:/a%20b.mp4", "FILE://LocalHost/a%20b.mp4"] {
            #expect(try CameraSource(text, relativeTo: "/d").url == "/a b.mp4")
        }
    }

    @Test("A capture device needs its scheme and an absolute path, which may contain colons")
    func devices() throws {
        for (text, path) in [
            ("v4l2:/dev/video0", "/dev/video0"), ("V4L2:/dev/video0", "/dev/video0"),
            (
                "v4l2:/dev/v4l/by-path/pci-0000:00:14.0-usb-0:1:1.0-video-index0",
                "/dev/v4l/by-path/"
                    + "pci-0000:00:14.0-usb-0:1:1.0-video-index0"
            ),
        ] {
            let source = try CameraSource(text, relativeTo: "/d")
            #expect(source.kind == .v4l2 && source.url == "v4l2:" + path)
            let checked = try CameraSettings(name: "x", url: text).checked()
            #expect(checked.source.kind == .v4l2 && checked.devicePath == path && !source.holdsPassword)
        }
        for text in ["v4l2:video0", "v4l2:", "v4l2://dev/video0", "v4l2:///dev/video0", "v4l:/dev/video0"] {
            #expect(throws: IoTError.self) { try CameraSource(text, relativeTo: "/d") }
        }
        for path in ["/dev/video0", "/dev/v4l/by-id/x"] {
            for text in [path, "file://" + path] {
                let error = #expect(throws: IoTError.self) { try CameraSource(text, relativeTo: "/d") }
                #expect(error?.remedy == "write v4l2:\(path)", "\(text)")
            }
        }
        // In other directories, a file may have any name.
        #expect(try CameraSource("video0", relativeTo: "/d").kind == .file)
        #expect(CameraSource(checked: "/d/a://b").kind == .file)
    }

    @Test("Settings of one kind of source are refused for another, and removed when the source changes")
    func settingsOfKinds() throws {
        for (url, camera) in [
            ("rtsp://192.0.2.1/", CameraSettings(frameRate: 10)), ("/a.mp4", CameraSettings(pictureSize: .vga)),
            ("v4l2:/dev/video0", CameraSettings(rtspTransport: .udp)),
            ("v4l2:/dev/video0", CameraSettings(username: "u")),
        ] {
            var camera = camera
            (camera.name, camera.url) = ("x", url)
            let error = #expect(throws: IoTError.self) { try camera.checked() }
            #expect(error?.message.contains("is for ") == true, "\(url)")
        }
        let desk = try CameraSettings(name: "x", url: "v4l2:/dev/video0", frameRate: 10, viewers: 3).checked()
        let door = try desk.applying(CameraChange(CameraSettings(url: "rtsp://192.0.2.1/")))
        #expect(door.$frameRate.given == nil && door.viewers == 3)
        let other = try desk.applying(CameraChange(CameraSettings(url: "v4l2:/dev/video1")))
        #expect(other.frameRate == 10)
        #expect(desk.shown == CameraSettings(rtspTransport: nil, pictureSize: .hd, frameRate: 10))
    }

    @Test(
        "Sources that could start a program or reach other resources are refused",
        arguments: [
            "exec:x", "pipe:0", "concat:a|b", "http://h/", "subfile,,start,0,end,0,,:/x", "", "a\nb", "rtsp://",
            "rtsp:h/x",
            "file://host/a.mp4", "file:a.mp4", "EXEC:x", ":x", "rtsp://h:99999/x", "rtsp://h:65536", "rtsp://h:0/x",
        ])
    func refusals(text: String) {
        #expect(throws: IoTError.self) { try CameraSource(text, relativeTo: "/d") }
        #expect(throws: IoTError.self) { try CameraSettings(name: "x", url: text).checked() }
    }

    @Test("The API and --camera refuse a password in a URL with the same message, which says where to put it")
    func passwordInURL() throws {
        let url = "rtsp://viewer:s3cret@192.0.2.7/x"
        let byAPI = try #require(throws: IoTError.self) {
            try CameraSettings(name: "door", url: url).checked()
        }
        #expect(byAPI.code == .invalidRequest && byAPI.message == "url: " + CameraRequest.passwordInURL)
        let byOption = try #require(throws: (any Error).self) { try DaemonOptions.parse(["--camera", "door=" + url]) }
        #expect("\(byOption)".contains(CameraRequest.passwordInURL), "\(byOption)")
        for words in ["`username` and `password` in the API", "--password-file", "`passwordFile` in a configuration"] {
            #expect(CameraRequest.passwordInURL.contains(words))
        }
        #expect(!byAPI.message.contains("s3cret") && !"\(byOption)".contains("s3cret"))
        // A user name without a password is not a secret.
        #expect(throws: Never.self) { try CameraSettings(name: "x", url: "rtsp://u@h/x").checked() }
    }

    @Test("rtsps:// is a source like rtsp://, with port 322 unless another one is named")
    func encrypted() throws {
        let source = try CameraSource("rtsps://h/x", relativeTo: "/")
        #expect(source.kind == .rtsp && source.url(username: "a", password: "b") == "rtsps://a:b@h/x")
        #expect(source.mayHaveLogin(of: CameraSource(checked: "rtsps://H:322/y")))
        #expect(!source.mayHaveLogin(of: CameraSource(checked: "rtsp://h/x")))
        let open = CameraSource(checked: "rtsp://h:322/x")
        #expect(source.mayHaveLogin(of: open) && !open.mayHaveLogin(of: source))
    }

    @Test("An unknown kind of source is refused with the known ones, in the configuration and by the API")
    func unknownScheme() {
        let refusals = [
            #expect(throws: IoTError.self) { try CameraSource("exec:foo", relativeTo: "/d") },
            #expect(throws: IoTError.self) { try CameraSettings(name: "x", url: "exec:foo").checked() },
        ]
        for refusal in refusals {
            #expect(
                refusal?.message.contains("'exec:' is not a camera source; sources are rtsp[s]://…, file:///…") == true)
            #expect(refusal?.remedy.contains("./NAME") == true)
        }
    }
}
