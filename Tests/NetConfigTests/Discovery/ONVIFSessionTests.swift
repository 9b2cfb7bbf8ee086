import IoTCore
import TestSupport
import Testing

@testable import NetConfig

@Suite struct ONVIFSessionTests {
    private static let login = ONVIFLogin(username: "admin", password: "secret")
    private static let device = ServiceURL("http://192.0.2.9/onvif/device_service")!
    /// 2026-01-01T00:00:00Z
    private static let now: Int64 = 1_767_225_600

    private func answer(_ body: String, status: Int = 200, challenges: [String] = []) -> ONVIFSession.Answer {
        let text = "<e:Envelope xmlns:e='\(WSDNamespace.soap)'><e:Body>\(body)</e:Body></e:Envelope>"
        return ONVIFSession.Answer(status: status, challenges: challenges, body: Array(text.utf8))
    }

    private static let clock = """
        <d:GetSystemDateAndTimeResponse xmlns:d='\(WSDNamespace.onvifDevice)' xmlns:t='http://www.onvif.org/ver10/schema'>
        <d:SystemDateAndTime><t:UTCDateTime><t:Time><t:Hour>1</t:Hour><t:Minute>2</t:Minute><t:Second>3</t:Second></t:Time>
        <t:Date><t:Year>2000</t:Year><t:Month>2</t:Month><t:Day>29</t:Day></t:Date></t:UTCDateTime></d:SystemDateAndTime>
        </d:GetSystemDateAndTimeResponse>
        """
    private static let information = """
        <GetDeviceInformationResponse><Manufacturer>Maker</Manufacturer><Model>M-1</Model>
        <FirmwareVersion>1.2</FirmwareVersion><SerialNumber>S9</SerialNumber></GetDeviceInformationResponse>
        """
    /// The answer of a camera that does not support the request.
    private static let unknown = """
        <e:Fault><e:Code><e:Value>e:Receiver</e:Value><e:Subcode><e:Value>ter:ActionNotSupported</e:Value></e:Subcode>
        </e:Code></e:Fault>
        """
    private static func services(_ addresses: [(String, String)]) -> String {
        let items = addresses.map { version, address in
            """
            <d:Service><d:Namespace>http://www.onvif.org/\(version)/media/wsdl</d:Namespace><d:XAddr>\(address)</d:XAddr>
            <d:Version><t:Major>2</t:Major><t:Minor>60</t:Minor></d:Version></d:Service>
            """
        }
        return """
            <d:GetServicesResponse xmlns:d='\(WSDNamespace.onvifDevice)' xmlns:t='http://www.onvif.org/ver10/schema'>
            <d:Service><d:Namespace>\(WSDNamespace.onvifDevice)</d:Namespace><d:XAddr>http://192.0.2.9/onvif/device_service
            </d:XAddr></d:Service>\(items.joined())</d:GetServicesResponse>
            """
    }
    private static let capabilities = """
        <GetCapabilitiesResponse><Capabilities><Media><XAddr>http://198.51.100.66:8080/onvif/media</XAddr></Media>
        </Capabilities></GetCapabilitiesResponse>
        """
    private static func profile(_ token: String, _ lens: String, _ codec: String, _ width: Int, _ height: Int) -> String
    {
        """
        <Profiles token='\(token)'><Name>\(token)</Name><VideoSourceConfiguration><SourceToken>\(lens)</SourceToken>
        </VideoSourceConfiguration><VideoEncoderConfiguration><Encoding>\(codec)</Encoding><Resolution>
        <Width>\(width)</Width><Height>\(height)</Height></Resolution></VideoEncoderConfiguration></Profiles>
        """
    }
    private static let profiles =
        "<GetProfilesResponse>" + profile("sub", "lens", "H264", 640, 360) + profile("main", "lens", "H265", 2560, 1440)
        + profile("jpeg", "lens", "JPEG", 4000, 3000) + profile("other", "lens2", "H264", 3840, 2160)
        + "</GetProfilesResponse>"
    /// The answer of Media2 (ver20/media/wsdl, `MediaProfile`).
    private static let secondProfiles = """
        <m:GetProfilesResponse xmlns:m='http://www.onvif.org/ver20/media/wsdl' xmlns:t='http://www.onvif.org/ver10/schema'>
        <m:Profiles token='p1' fixed='true'><m:Name>first</m:Name><m:Configurations><m:VideoSource token='v1'>
        <t:SourceToken>lens</t:SourceToken></m:VideoSource><m:VideoEncoder token='e1' GovLength='50' Profile='Main'>
        <t:Encoding>H265</t:Encoding><t:Resolution><t:Width>3840</t:Width><t:Height>2160</t:Height></t:Resolution>
        </m:VideoEncoder></m:Configurations></m:Profiles></m:GetProfilesResponse>
        """
    private static func stream(_ url: String) -> String {
        "<GetStreamUriResponse><MediaUri><Uri>\(url)</Uri></MediaUri></GetStreamUriResponse>"
    }

    private func session(_ login: ONVIFLogin? = login) -> ONVIFSession {
        ONVIFSession(Self.device, login, random: SeededGenerator(seed: 1))
    }

    @Test("A camera is asked for clock, kind and streams; main is the largest, sub the smallest of its lens")
    func whole() throws {
        var session = session()
        let first = session.start()
        #expect(first.url == Self.device && first.body.contains("GetSystemDateAndTime"))
        #expect(!first.body.contains("Security"))
        let second = try #require(try session.receive(answer(Self.clock), at: Self.now))
        // By the camera's clock, which is wrong by years.
        #expect(second.body.contains("<wsu:Created>2000-02-29T01:02:03Z</wsu:Created>"))
        #expect(second.body.contains("GetDeviceInformation") && !second.body.contains("secret"))
        let third = try #require(try session.receive(answer(Self.information), at: Self.now + 1))
        #expect(third.body.contains("01:02:04Z") && third.body.contains("GetServices"))
        let older = try #require(try session.receive(answer(Self.unknown, status: 400), at: Self.now))
        #expect(older.body.contains("GetCapabilities"))
        let fourth = try #require(try session.receive(answer(Self.capabilities), at: Self.now))
        // Port and path of what the camera says, at the host that was asked.
        #expect(fourth.url.text == "http://192.0.2.9:8080/onvif/media" && fourth.body.contains("GetProfiles"))
        let fifth = try #require(try session.receive(answer(Self.profiles), at: Self.now))
        #expect(fifth.body.contains("<ProfileToken>main</ProfileToken>"))
        let sixth = try #require(
            try session.receive(answer(Self.stream("rtsp://user:x@10.0.0.1:5540/1?a=b&amp;c")), at: Self.now))
        #expect(sixth.body.contains("<ProfileToken>sub</ProfileToken>"))
        #expect(try session.receive(answer(Self.stream("rtsp://0.0.0.0/2")), at: Self.now) == nil)
        let result = try #require(session.result)
        #expect(result.manufacturer == "Maker" && result.model == "M-1" && result.serialNumber == "S9")
        #expect(result.main.url == "rtsp://192.0.2.9:5540/1?a=b&c" && result.main.width == 2560)
        #expect(result.sub?.url == "rtsp://192.0.2.9/2" && result.sub?.codec == "H264")
    }

    @Test("Media2 is used if the camera has it, on the host of the first request")
    func media2() throws {
        var session = session()
        _ = session.start()
        _ = try session.receive(answer(Self.clock), at: Self.now)
        _ = try session.receive(answer(Self.information), at: Self.now)
        let services = Self.services([
            ("ver10", "http://198.51.100.66/onvif/media"), ("ver20", "http://198.51.100.66:81/onvif/media2"),
        ])
        let profiles = try #require(try session.receive(answer(services), at: Self.now))
        #expect(profiles.url.text == "http://192.0.2.9:81/onvif/media2")
        #expect(profiles.body.contains("http://www.onvif.org/ver20/media/wsdl"))
        #expect(profiles.body.contains("<Type>VideoEncoder</Type>"))
        let stream = try #require(try session.receive(answer(Self.secondProfiles), at: Self.now))
        #expect(stream.body.contains("<Protocol>RTSP</Protocol><ProfileToken>p1</ProfileToken>"))
        #expect(!stream.body.contains("StreamSetup"))
        let uri = "<GetStreamUriResponse><Uri>rtsp://10.0.0.1/h265</Uri></GetStreamUriResponse>"
        #expect(try session.receive(answer(uri), at: Self.now) == nil)
        let main = try #require(session.result?.main)
        #expect(main.url == "rtsp://192.0.2.9/h265" && main.codec == "H265" && main.width == 3840)
    }

    @Test("Media is used if Media2 fails or has no video; a refused login is final")
    func olderMedia() throws {
        let services = Self.services([("ver20", "http://h/2"), ("ver10", "http://h/1")])
        for (body, status) in [(Self.unknown, 500), ("<GetProfilesResponse/>", 200)] {
            var session = session()
            _ = session.start()
            for body in [Self.clock, Self.information, services] {
                _ = try session.receive(answer(body), at: Self.now)
            }
            let next = try #require(try session.receive(answer(body, status: status), at: Self.now))
            #expect(next.url.path == "/1" && next.body.contains("ver10/media"))
            let stream = try #require(try session.receive(answer(Self.profiles), at: Self.now))
            #expect(stream.body.contains("StreamSetup"))
        }
        var session = session()
        _ = session.start()
        for body in [Self.clock, Self.information, services] { _ = try session.receive(answer(body), at: Self.now) }
        #expect(throws: IoTError.self) { try session.receive(answer("", status: 403), at: Self.now) }
    }

    @Test("All requests use TLS if and only if the first request uses TLS")
    func encryption() throws {
        for (device, address, expected) in [
            ("https://192.0.2.9/d", "http://192.0.2.9/m", "https://192.0.2.9/m"),
            ("https://192.0.2.9:8443/d", "http://192.0.2.9:8080/m", "https://192.0.2.9:8443/m"),
            ("https://192.0.2.9/d", "https://192.0.2.9:8443/m", "https://192.0.2.9:8443/m"),
            ("http://192.0.2.9:8080/d", "https://192.0.2.9/m", "http://192.0.2.9:8080/m"),
        ] {
            let device = try #require(ServiceURL(device))
            var session = ONVIFSession(device, Self.login, random: SeededGenerator(seed: 1))
            _ = session.start()
            for body in [Self.clock, Self.information] { _ = try session.receive(answer(body), at: Self.now) }
            let next = try session.receive(answer(Self.services([("ver10", address)])), at: Self.now)
            #expect(next?.url.text == expected)
        }
    }

    @Test("HTTP's digest is used when it is asked for, and refused when it is asked for again with the same nonce")
    func digest() throws {
        var session = session()
        _ = session.start()
        // The clock needs no login by the specification; some want one all the same.
        let challenge = "Digest realm=\"IPC\", qop=\"auth\", nonce=\"n1\""
        let first = try #require(try session.receive(answer("", status: 401, challenges: [challenge]), at: Self.now))
        #expect(first.body.contains("GetSystemDateAndTime") && first.authorization?.contains("nc=00000001") == true)
        let second = try #require(try session.receive(answer(Self.clock), at: Self.now))
        #expect(second.authorization?.contains("nc=00000002") == true)
        #expect(throws: IoTError.self) {
            try session.receive(answer("", status: 401, challenges: [challenge]), at: Self.now)
        }
    }

    @Test("A refusal, a fault, nonsense and a camera without video each have their number and no secret")
    func failures() throws {
        let refused = """
            <e:Fault><e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value xmlns:t='urn:t'>t:NotAuthorized</e:Value>
            </e:Subcode></e:Code><e:Reason><e:Text>Sender not Authorized</e:Text></e:Reason></e:Fault>
            """
        let fault = "<e:Fault><e:Code><e:Value>e:Receiver</e:Value></e:Code></e:Fault>"
        for (login, body, status, code) in [
            (Self.login, refused, 400, ErrorCode.sourceRefused), (nil, refused, 400, .sourceRefused),
            (Self.login, "", 403, .sourceRefused), (Self.login, fault, 500, .sourceUnsupported),
            (Self.login, "", 404, .sourceUnsupported),
        ] as [(ONVIFLogin?, String, Int, ErrorCode)] {
            var session = session(login)
            _ = session.start()
            _ = try session.receive(answer(Self.clock), at: Self.now)
            let error = #expect(throws: IoTError.self) {
                try session.receive(answer(body, status: status), at: Self.now)
            }
            #expect(error?.code == code)
            #expect("\(error.map { "\($0)\($0.remedy)" } ?? "")".contains("secret") == false)
        }
        var session = session()
        _ = session.start()
        for body in [Self.clock, Self.information, "", Self.capabilities] {
            _ = try session.receive(answer(body), at: Self.now)
        }
        let error = #expect(throws: IoTError.self) {
            try session.receive(answer("<GetProfilesResponse/>"), at: Self.now)
        }
        #expect(error?.code == .sourceUnsupported)
    }

    @Test("A login shows nothing of itself")
    func secrets() {
        var text = ""
        dump(Self.login, to: &text)
        #expect(!"\(Self.login) \(String(reflecting: Self.login)) \(text)".contains("secret"))
    }

    @Test("The UsernameToken's digest is that of ONVIF's example (Application Programmer's Guide 1.0, 6.1.1.3)")
    func usernameToken() throws {
        let nonce = try #require(Base64.decode("LKqI6G/AikKCQrN0zqZFlg=="))
        let digest = UsernameToken.digest(nonce: nonce, created: "2010-09-16T07:50:45Z", password: "userpassword")
        #expect(digest == "tuOSpGlFlIXsozq4HFNeeGeFLEI=")
    }

    @Test(
        "Times are those of the calendar",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] as [(Int64, String)])
    func times(seconds: Int64, text: String) {
        #expect(UTCTime.text(seconds) == text)
        let numbers = text.split { "-T:Z".contains($0) }.compactMap { Int($0) }
        #expect(
            UTCTime.seconds(
                year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
                second: numbers[5]) == seconds)
    }
}
