/// The SOAP bodies of the requests to an ONVIF camera (ONVIF Core §8, Media §5).
enum ONVIFQuestion {
    private static let device = WSDNamespace.onvifDevice
    private static let media = "http://www.onvif.org/ver10/media/wsdl"
    private static let schema = "http://www.onvif.org/ver10/schema"

    static let clock = "<GetSystemDateAndTime xmlns=\"\(device)\"/>"
    static let information = "<GetDeviceInformation xmlns=\"\(device)\"/>"
    static let capabilities =
        "<GetCapabilities xmlns=\"\(device)\"><Category>Media</Category></GetCapabilities>"
    static let profiles = "<GetProfiles xmlns=\"\(media)\"/>"

    static func stream(_ profile: String) -> String {
        "<GetStreamUri xmlns=\"\(media)\"><StreamSetup><Stream xmlns=\"\(schema)\">RTP-Unicast</Stream>"
            + "<Transport xmlns=\"\(schema)\"><Protocol>RTSP</Protocol></Transport></StreamSetup>"
            + "<ProfileToken>\(XMLText.escaped(profile))</ProfileToken></GetStreamUri>"
    }
}
