package import IoTCore
package import NIOCore

/// What an `RTSPClient` connects to, and how.
package struct RTSPClientConfiguration: Sendable {
    package var url: ServiceURL
    /// `nil` without a login.
    package var credentials: BasicCredentials?
    /// UDP is tried first if it is chosen here; TCP is used when no packet arrives.
    package var transport: RTSPTransport
    /// The longest time from the start to the first packet.
    package var openTimeout: TimeAmount = .seconds(10)
    /// The longest time between two packets.
    package var readTimeout: TimeAmount = .seconds(10)
    /// How long the first packet may take over UDP before TCP is tried.
    package var firstDatagramTimeout: TimeAmount = .seconds(3)
    /// Whether ONVIF's back channel is asked for (ONVIF Streaming §5.3.1).
    ///
    /// Quirk 16: asking can silence the button of a doorbell (AlexxIT/go2rtc#95). It is for a session of its own, while
    /// somebody talks.
    package var wantsBackChannel = false

    package static let userAgent = "iotvideod"

    package init(url: ServiceURL, credentials: BasicCredentials?, transport: RTSPTransport) {
        self.url = url
        self.credentials = credentials
        self.transport = transport
    }
}
