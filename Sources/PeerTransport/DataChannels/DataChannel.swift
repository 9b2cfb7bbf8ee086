/// Names one data channel of one peer connection; never used twice.
public struct DataChannelID: Sendable, Hashable {
    let value: Int
}

/// A data channel as it is now.
public struct DataChannel: Sendable, Hashable {
    /// Names as in W3C's RTCDataChannelState.
    public enum State: String, Sendable {
        /// The connection does not stand yet.
        case connecting
        case open
        case closing
        case closed
    }

    public let id: DataChannelID
    public let label: String
    public let subprotocol: String
    public let options: DataChannelOptions

    /// The peer has opened it.
    public let isRemote: Bool

    /// Both directions of one SCTP stream; `nil` before it is known.
    public internal(set) var streamID: UInt16?
    public internal(set) var state = State.connecting
}
