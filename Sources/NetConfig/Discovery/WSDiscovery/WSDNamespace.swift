/// The names of WS-Discovery of April 2005, on which ONVIF is based (ONVIF Core §7), and of version 1.1, which some
/// devices use in answers.
enum WSDNamespace {
    static let soap = "http://www.w3.org/2003/05/soap-envelope"
    static let addressing = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
    static let discovery = "http://schemas.xmlsoap.org/ws/2005/04/discovery"
    static let discovery11 = "http://docs.oasis-open.org/ws-dd/ns/discovery/2009/01"

    /// The address of messages to all devices (WS-Discovery §2.4).
    static let everybody = "urn:schemas-xmlsoap-org:ws:2005:04:discovery"
    static let anonymous = addressing + "/role/anonymous"

    static let onvifNetwork = "http://www.onvif.org/ver10/network/wsdl"
    static let onvifDevice = "http://www.onvif.org/ver10/device/wsdl"
    static let videoTransmitter = XMLElement.Name(onvifNetwork, "NetworkVideoTransmitter")

    /// Our own namespace: cameras of iotvideod do not claim to be ONVIF devices.
    static let ours = "urn:x-iotvideod:discovery:1"
    static let camera = XMLElement.Name(ours, "Camera")
}
