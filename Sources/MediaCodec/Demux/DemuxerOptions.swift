public import IoTCore

/// Options for opening and reading a source.
public struct DemuxerOptions: Sendable, Hashable {
    /// The transport for media from an RTSP source. Default: TCP, which is lossless and passes firewalls.
    public var rtspTransport: RTSPTransport

    /// The maximum time for opening a source, including probing. Default 10 s.
    public var openTimeout: Duration

    /// The maximum time that a read waits for the next frame. Default 10 s.
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
