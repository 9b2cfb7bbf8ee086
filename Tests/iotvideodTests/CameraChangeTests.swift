import GatewayAPI
import IoTCore
import Testing

@testable import iotvideod

/// What a change of an added camera makes of it.
@Suite struct CameraChangeTests {
    private let door: CameraConfiguration

    init() throws {
        door = try CameraConfiguration(
            CameraRequest(
                name: "door", url: "rtsp://h/1", username: "a@b", password: "p:1", transport: .udp, viewers: 3))
    }

    @Test("What is absent stays, the password included")
    func partial() throws {
        #expect(try door.applying(CameraChange()) == door)
        let moved = try door.applying(CameraChange(url: "rtsp://H:554/2?a=b"))
        #expect(try moved.openableURL() == "rtsp://a%40b:p%3A1@H:554/2?a=b")
        #expect(moved.viewers == 3 && moved.rtspTransport == .udp && moved.name == "door")
        #expect(try door.applying(CameraChange(viewers: 5)).viewers == 5)
        #expect(try door.applying(CameraChange(transport: .tcp)).rtspTransport == .tcp)
        #expect(try door.applying(CameraChange(password: "new")).openableURL() == "rtsp://a%40b:new@h/1")
    }

    @Test("A URL without a user stays as it was written")
    func writing() throws {
        let odd = try CameraConfiguration(CameraRequest(name: "odd", url: "rtsp://h/a b;c=%zz"))
        #expect(try odd.applying(CameraChange(viewers: 2)).openableURL() == "rtsp://h/a b;c=%zz")
    }

    @Test("Another user name takes the old password away, and null both")
    func username() throws {
        #expect(try door.applying(CameraChange(username: .value("c"))).openableURL() == "rtsp://c@h/1")
        #expect(try door.applying(CameraChange(username: .null)).openableURL() == "rtsp://h/1")
        #expect(try door.applying(CameraChange(url: "rtsp://c@h/1")).openableURL() == "rtsp://c@h/1")
    }

    @Test(
        "The password goes to no other host or port unless it is given again",
        arguments: ["rtsp://i/1", "rtsp://h:8554/1"])
    func otherHost(url: String) throws {
        let refused = try #require(throws: IoTError.self) { try door.applying(CameraChange(url: url)) }
        #expect(refused.code == .invalidRequest && refused.message.contains("user name and the password again"))
        let alone = try #require(throws: IoTError.self) { try door.applying(CameraChange(url: url, password: "x")) }
        #expect(alone.code == .invalidRequest)
        let given = try door.applying(CameraChange(url: url, username: .value("a"), password: "b"))
        #expect(try given.openableURL().contains("://a:b@"))
        #expect(try door.applying(CameraChange(url: url, username: .null)).openableURL() == url)
    }

    @Test("A file in place of a camera has no user, and a file's change takes none")
    func file() throws {
        let clip = try door.applying(CameraChange(url: "/a.mp4"))
        #expect(clip.source.kind == .file && clip.rtspTransport == .tcp && clip.viewers == 3)
        for change in [
            CameraChange(username: .value("u")), CameraChange(transport: .udp), CameraChange(password: "p"),
            CameraChange(url: "exec:x"), CameraChange(url: "rtsp://u:p@h/1"), CameraChange(viewers: 0),
        ] {
            let refused = try #require(throws: IoTError.self) { try clip.applying(change) }
            #expect(refused.code == .invalidRequest, "\(change)")
        }
    }
}
