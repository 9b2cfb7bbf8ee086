/// What carries the media of an RTSP source (RFC 2326 §10.12 and §12.39).
public enum RTSPTransport: String, Sendable, Codable, CaseIterable {
    /// Interleaved in the RTSP connection.
    case tcp
    /// RTP datagrams; what is lost stays lost. libav reads RTCP first: what a server sends within milliseconds of its
    /// goodbye is lost too.
    case udp
}
