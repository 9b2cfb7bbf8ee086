import IoTCore

/// The SOAP bodies of the requests to an ONVIF camera (ONVIF Core §8, Media §5, Media2 §5).
enum ONVIFQuestion {
    private static let device = WSDNamespace.onvifDevice
    private static let schema = "http://www.onvif.org/ver10/schema"

    static let clock = "<GetSystemDateAndTime xmlns=\"\(device)\"/>"
    static let information = "<GetDeviceInformation xmlns=\"\(device)\"/>"
    static let services =
        "<GetServices xmlns=\"\(device)\"><IncludeCapability>false</IncludeCapability></GetServices>"
    /// For old devices without GetServices.
    static let capabilities =
        "<GetCapabilities xmlns=\"\(device)\"><Category>Media</Category></GetCapabilities>"

    static func profiles(_ version: ONVIFMediaService.Version) -> String {
        let name = version.rawValue
        return switch version {
        case .first: "<GetProfiles xmlns=\"\(name)\"/>"
        // Without types, the answer contains only names (Media2 §5.2.2).
        case .second: "<GetProfiles xmlns=\"\(name)\"><Type>VideoSource</Type><Type>VideoEncoder</Type></GetProfiles>"
        }
    }

    static func stream(_ profile: String, _ version: ONVIFMediaService.Version) -> String {
        let (name, token) = (version.rawValue, "<ProfileToken>\(XMLText.escaped(profile))</ProfileToken>")
        return switch version {
        case .first:
            "<GetStreamUri xmlns=\"\(name)\"><StreamSetup><Stream xmlns=\"\(schema)\">RTP-Unicast</Stream>"
                + "<Transport xmlns=\"\(schema)\"><Protocol>RTSP</Protocol></Transport></StreamSetup>\(token)"
                + "</GetStreamUri>"
        // RTP over RTSP over TCP.
        case .second: "<GetStreamUri xmlns=\"\(name)\"><Protocol>RTSP</Protocol>\(token)</GetStreamUri>"
        }
    }

    /// ONVIF Core §8.4.
    static let upgrade = "<StartFirmwareUpgrade xmlns=\"\(device)\"/>"

    // MARK: Events (ONVIF Core §9)

    static let events = "http://www.onvif.org/ver10/events/wsdl"
    private static let addressing = "http://www.w3.org/2005/08/addressing"
    private static let notification = "http://docs.oasis-open.org/wsn/b-2"
    static let eventCapabilities =
        "<GetCapabilities xmlns=\"\(device)\"><Category>Events</Category></GetCapabilities>"
    static let subscription =
        "<CreatePullPointSubscription xmlns=\"\(events)\"><InitialTerminationTime>PT60S</InitialTerminationTime>"
        + "</CreatePullPointSubscription>"
    static let pull =
        "<PullMessages xmlns=\"\(events)\"><Timeout>PT5S</Timeout><MessageLimit>64</MessageLimit></PullMessages>"
    static let renewal =
        "<Renew xmlns=\"\(notification)\"><TerminationTime>PT60S</TerminationTime></Renew>"
    static let end = "<Unsubscribe xmlns=\"\(notification)\"/>"

    /// The actions of these questions (WS-Addressing §3.3), which many cameras need.
    static let subscriptionAction = events + "/EventPortType/CreatePullPointSubscriptionRequest"
    static let pullAction = events + "/PullPointSubscription/PullMessagesRequest"
    static let renewalAction = "http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager/RenewRequest"
    static let endAction = "http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager/UnsubscribeRequest"

    /// Elements of the SOAP header.
    ///
    /// - Parameter parameters: those of the subscription, as elements.
    static func address(_ url: ServiceURL, action: String, parameters: String = "") -> String {
        "<a:Action xmlns:a=\"\(addressing)\" s:mustUnderstand=\"1\">\(action)</a:Action>"
            + "<a:To xmlns:a=\"\(addressing)\" s:mustUnderstand=\"1\">\(XMLText.escaped(url.text))</a:To>\(parameters)"
    }

    /// A reference parameter of an endpoint, which is returned in each request to it (WS-Addressing SOAP Binding §2.1).
    /// Parameters with elements in them are left out: no known camera has any.
    static func parameter(_ element: XMLElement) -> String? {
        let name = element.name
        let isName = name.local.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        guard element.children.isEmpty, isName, element.text.utf8.count <= 1_024 else { return nil }
        return "<p:\(name.local) xmlns:p=\"\(XMLText.escaped(name.namespace))\" xmlns:a=\"\(addressing)\" "
            + "a:IsReferenceParameter=\"true\">\(XMLText.escaped(element.text))</p:\(name.local)>"
    }
}
