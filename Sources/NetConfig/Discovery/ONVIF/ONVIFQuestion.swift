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
}
