import Foundation
import IoTCore

/// One local camera that becomes a device.
public struct CameraConfiguration: Sendable {
    /// How RTP travels from an RTSP camera.
    public enum RTSPTransport: String, Sendable, CaseIterable {
        case tcp
        case udp
    }

    /// The device's alias.
    public var name: String

    /// A file's path, or an `rtsp://` address, which may hold a user name and password.
    public var url: String

    /// How many viewers may watch at once; one more gets 20007. Default 8.
    public var maximumViewers: Int

    /// Default TCP: it crosses every network and loses nothing.
    public var rtspTransport: RTSPTransport

    /// What made the device, for its model; for example 0.1.0 as 1000.
    public var softwareVersion: UInt32 = 0

    /// What helps viewers behind other routers to find a way. Default: none.
    public var iceServers = ICEServers.none

    public init(name: String, url: String, maximumViewers: Int = 8, rtspTransport: RTSPTransport = .tcp) {
        self.name = name
        self.url = url
        self.maximumViewers = maximumViewers
        self.rtspTransport = rtspTransport
    }

    var isLive: Bool {
        url.contains("://") && !url.hasPrefix("file://")
    }

    /// A file camera's path.
    var filePath: String {
        url.hasPrefix("file://") ? String(url.dropFirst("file://".count)).removingPercentEncoding ?? url : url
    }

    /// The address without its password, for people and logs.
    public var redactedURL: String {
        guard let scheme = url.range(of: "://"),
            let at = url[scheme.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
        else { return url }
        return url[..<scheme.upperBound] + "…" + url[at...]
    }
}
