import IoTCore

/// A camera's service that lists its profiles and streams.
struct ONVIFMediaService: Hashable, Sendable {
    /// Media (the first) cannot describe H.265 (ONVIF Media §5.2.5), so cameras list H.265 profiles only in Media2.
    enum Version: String, CaseIterable, Sendable {
        case first = "http://www.onvif.org/ver10/media/wsdl"
        case second = "http://www.onvif.org/ver20/media/wsdl"
    }

    var version: Version
    var url: ServiceURL

    /// The media services in a GetServicesResponse, Media2 first.
    static func read(_ response: XMLElement) -> [ONVIFMediaService] {
        let all = response.children("Service").prefix(64).compactMap { element -> ONVIFMediaService? in
            guard let version = (element.child("Namespace")?.text).flatMap(Version.init),
                let url = (element.child("XAddr")?.text).flatMap({ ServiceURL($0) })
            else { return nil }
            return ONVIFMediaService(version: version, url: url)
        }
        return [.second, .first].compactMap { version in all.first { $0.version == version } }
    }
}
