/// The identity of one data channel of one peer connection; never reused.
public struct DataChannelID: Sendable, Hashable {
    let value: Int
}

/// A snapshot of a data channel.
public struct DataChannel: Sendable, Hashable {
    /// Names as in W3C's RTCDataChannelState.
    public enum State: String, Sendable {
        /// The connection is not up yet.
        case connecting
        case open
        case closing
        case closed
    }

    public let id: DataChannelID
    public let label: String
    public let subprotocol: String
    public let options: DataChannelOptions

    /// True when the peer has opened it.
    public let isRemote: Bool

    /// The SCTP stream of both directions; `nil` before it is known.
    public internal(set) var streamID: UInt16?
    public internal(set) var state = State.connecting
}
