package import IoTCore
package import NIOCore

/// The configuration of an `RTSPClient`.
package struct RTSPClientConfiguration: Sendable {
    package var url: ServiceURL
    /// `nil` without a login.
    package var credentials: BasicCredentials?
    /// Which certificates to accept with `rtsps://`.
    package var trust = CameraTrust.none
    /// With `.udp`, the client changes to TCP if no packet arrives. With `rtsps://`, media always come in the connection:
    /// UDP would not be encrypted.
    package var transport: RTSPTransport
    /// The longest time from the start to the first packet.
    package var openTimeout: TimeAmount = .seconds(10)
    /// The longest time from PLAY to the first frame; of video, to the first key frame.
    package var firstFrameTimeout: TimeAmount = .seconds(10)
    /// The longest time between two frames.
    package var readTimeout: TimeAmount = .seconds(10)
    /// How long to wait for the first packet over UDP before changing to TCP.
    package var firstDatagramTimeout: TimeAmount = .seconds(3)
    package var purpose = Purpose.reading

    /// Encoding names, in lower case, that another reader supports. If the camera's only video or only audio has one of
    /// them and the client does not support it, the session ends before SETUP with `OtherReaderNeeded`. Never with `rtsps://`.
    package var codecsOfOtherReader: [MediaKind: Set<String>] = [:]

    package static let userAgent = "iotvideod"

    package enum Purpose: Sendable {
        /// Receives video and audio.
        case reading
        /// Sends sound on ONVIF's back channel (ONVIF Streaming §5.3).
        ///
        /// Quirk 16: the request for it can silence a doorbell's button (AlexxIT/go2rtc#95). Use a separate session,
        /// only while somebody talks.
        case backChannel
    }

    package init(url: ServiceURL, credentials: BasicCredentials?, transport: RTSPTransport) {
        self.url = url
        self.credentials = credentials
        self.transport = transport
    }
}
