/// What carries the media of an RTSP source (RFC 2326 §10.12 and §12.39).
public enum RTSPTransport: String, Sendable, Codable, CaseIterable {
    /// Interleaved in the RTSP connection.
    case tcp
    /// RTP datagrams. Lost packets are not repeated. libav reads RTCP first, so packets that a server sends within
    /// milliseconds before its RTCP BYE are lost, too.
    case udp
}
