public import IoTCore

/// How a source is opened and read.
public struct DemuxerOptions: Sendable, Hashable {
    /// What carries the media of an RTSP source. Default: TCP, which loses nothing and passes firewalls.
    public var rtspTransport: RTSPTransport

    /// How long opening may take, probing included, before it fails. Default 10 s.
    public var openTimeout: Duration

    /// How long a read may wait for the next frame before it fails. Default 10 s.
    public var readTimeout: Duration

    public init(
        rtspTransport: RTSPTransport = .tcp, openTimeout: Duration = .seconds(10),
        readTimeout: Duration = .seconds(10)
    ) {
        self.rtspTransport = rtspTransport
        self.openTimeout = openTimeout
        self.readTimeout = readTimeout
    }
}
