import IoTCore
import TestSupport
import Testing

@testable import NetConfig

@Suite struct ONVIFEventSessionTests {
    private static let device = ServiceURL("http://192.0.2.9:8000/onvif/device_service")!
    private static let now: Int64 = 1_767_225_600

    private func answer(_ body: String, status: Int = 200, challenges: [String] = []) -> ONVIFSession.Answer {
        let text = "<e:Envelope xmlns:e='\(WSDNamespace.soap)'><e:Body>\(body)</e:Body></e:Envelope>"
        return ONVIFSession.Answer(status: status, challenges: challenges, body: Array(text.utf8))
    }

    private static let services = """
        <GetServicesResponse><Service><Namespace>http://www.onvif.org/ver10/events/wsdl</Namespace>
        <XAddr>http://198.51.100.66:8000/onvif/events</XAddr></Service></GetServicesResponse>
        """
    private static let subscription = """
        <CreatePullPointSubscriptionResponse><SubscriptionReference>
        <w:Address xmlns:w='http://www.w3.org/2005/08/addressing'>http://198.51.100.66:8000/onvif/pull?n=7</w:Address>
        <w:ReferenceParameters xmlns:w='http://www.w3.org/2005/08/addressing'>
        <x:SubscriptionId xmlns:x='urn:maker&amp;co'>a&lt;b</x:SubscriptionId></w:ReferenceParameters>
        </SubscriptionReference></CreatePullPointSubscriptionResponse>
        """
    private static let fault = """
        <e:Fault><e:Code><e:Value>e:Receiver</e:Value><e:Subcode><e:Value>ter:ActionNotSupported</e:Value></e:Subcode>
        </e:Code></e:Fault>
        """

    private static func message(_ topic: String, _ data: [(String, String)], operation: String? = "Changed") -> String {
        let items = data.map { "<t:SimpleItem Name='\($0.0)' Value='\($0.1)'/>" }.joined()
        let attribute = operation.map { " PropertyOperation='\($0)'" } ?? ""
        return """
            <n:NotificationMessage xmlns:n='http://docs.oasis-open.org/wsn/b-2' xmlns:t='http://www.onvif.org/ver10/schema'>
            <n:Topic Dialect='http://www.onvif.org/ver10/tev/topicExpression/ConcreteSet'>\(topic)</n:Topic><n:Message>
            <t:Message UtcTime='2026-01-01T00:00:00Z'\(attribute)><t:Source>
            <t:SimpleItem Name='VideoSourceConfigurationToken' Value='v1'/></t:Source><t:Data>\(items)</t:Data></t:Message>
            </n:Message></n:NotificationMessage>
            """
    }

    private static func pulled(_ messages: String) -> String {
        "<PullMessagesResponse>\(messages)</PullMessagesResponse>"
    }

    @Test("A pull point is made on the asked host, pulled, prolonged and ended, with its parameters and the login")
    func conversation() throws {
        var session = ONVIFEventSession(
            Self.device, ONVIFLogin(username: "admin", password: "secret"), random: SeededGenerator(seed: 1))
        #expect(session.start().body.contains("GetSystemDateAndTime"))
        func next(_ body: String, _ now: Int64 = Self.now, status: Int = 200) throws -> ONVIFSession.Request {
            try session.receive(answer(body, status: status), at: now).next
        }
        #expect(try next(Self.fault, status: 500).body.contains("GetServices"))
        let create = try next(Self.services)
        #expect(create.url.text == "http://192.0.2.9:8000/onvif/events" && create.body.contains("wsse:Security"))
        #expect(create.body.contains("EventPortType/CreatePullPointSubscriptionRequest</a:Action>"))
        let pull = try next(Self.subscription)
        #expect(pull.url.text == "http://192.0.2.9:8000/onvif/pull?n=7" && pull.body.contains("<PullMessages"))
        #expect(pull.body.contains("<p:SubscriptionId xmlns:p=\"urn:maker&amp;co\""), "\(pull.body)")
        #expect(pull.body.contains("a:IsReferenceParameter=\"true\">a&lt;b</p:SubscriptionId>"))
        #expect(!pull.body.contains("secret"))
        let empty = try session.receive(answer(Self.pulled("")), at: Self.now + 5)
        #expect(empty.isPull && empty.notifications.isEmpty && empty.next.body.contains("<PullMessages"))
        #expect(try next(Self.pulled(""), Self.now + 26).body.contains("<Renew"))
        // A camera that prolongs it with each pull.
        #expect(try next(Self.fault, Self.now + 27, status: 400).body.contains("<PullMessages"))
        #expect(session.end(at: Self.now)?.body.contains("<Unsubscribe") == true)
        #expect(throws: IoTError.self) { try next(Self.fault, status: 400) }
    }

    @Test(
        "Topics of several makers are understood",
        arguments: [
            (
                "tns1:RuleEngine/CellMotionDetector/Motion", [("IsMotion", "true")], DetectionType.motion,
                ONVIFNotification.Change.begins
            ),
            ("tns1:VideoSource/MotionAlarm", [("State", "0")], .motion, .ends),
            ("tns1:RuleEngine/MyRuleDetector/PeopleDetect", [("State", "true")], .human, .begins),
            ("tns1:RuleEngine/MyRuleDetector/VehicleDetect", [("State", "false")], .car, .ends),
            ("tns1:RuleEngine/MyRuleDetector/DogCatDetect", [("State", "1")], .pet, .begins),
            ("tns1:RuleEngine/MyRuleDetector/Visitor", [("State", "true")], .doorbell, .begins),
            ("tns1:RuleEngine/TPSmartEventDetector/TPSmartEvent", [("IsVehicle", "true")], .car, .begins),
            ("tns1:RuleEngine/PeopleDetector/People", [("IsPeople", "true")], .human, .begins),
            ("tns1:RuleEngine/LineDetector/Crossed", [("ObjectId", "15")], .motion, .happens),
            ("tnsaxis:CameraApplicationPlatform/VMD/Camera1Profile1", [("active", "1")], .motion, .begins),
            ("tns1:AudioAnalytics/Audio/DetectedSound", [("IsSoundDetected", "true")], .sound, .begins),
        ])
    func topics(topic: String, data: [(String, String)], type: DetectionType, change: ONVIFNotification.Change) throws {
        let response = try XMLReader.read(Array(Self.pulled(Self.message(topic, data)).utf8), .answer)
        let found = ONVIFNotification.read(response)
        #expect(found.map(\.type) == [type] && found.map(\.change) == [change], "\(found)")
        #expect(found.first?.detector.contains("VideoSourceConfigurationToken=v1") == true)
    }

    @Test("Other topics, states that are not known and damaged messages are left out")
    func others() throws {
        let messages = [
            Self.message("tns1:Device/Trigger/DigitalInput", [("LogicalState", "true")]),
            // Parts of words.
            Self.message("tns1:Monitoring/CertificateExpiration", [("Expired", "true")]),
            Self.message("tns1:Device/NetworkInterface", [("Firewall", "true")]),
            Self.message("tns1:Monitoring/Repetition", [("Scarce", "true")]),
            Self.message("tns1:RuleEngine/LineDetector/Crossed", [], operation: "Initialized"),
            "<NotificationMessage><Topic>tns1:VideoSource/MotionAlarm</Topic></NotificationMessage>",
            "<NotificationMessage/>",
            Self.message(String(repeating: "Motion", count: 100), [("State", "true")]),
            Self.message("tns1:VideoSource/MotionAlarm", [("State", "true")], operation: "Initialized"),
        ]
        let response = try XMLReader.read(Array(Self.pulled(messages.joined()).utf8), .answer)
        #expect(ONVIFNotification.read(response).map(\.change) == [.begins])
    }
}
